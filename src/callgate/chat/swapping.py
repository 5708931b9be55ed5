"""Turning to a model, at the start and in mid-conversation. The history stays: the gate writes it for each anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from callgate.chat.judging import Judgement, judge, look
from callgate.chat.unknowns import settle
from callgate.chat.words import name_of
from callgate.vocabulary import CallgateError, ModelRef, NotFound, UsageError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

Refused = Callable[[CallgateError], Awaitable[None]]
"""What to do with a model that proves useless when the chat has already turned to it."""


async def swap_to(chat: Chat, text: str) -> None:
    """What `/model` does. A model that isn't there leaves things as they are. Raises: CallgateError."""
    ref = chat.shelf.meant(text)
    if ref.scheme == "auto":
        ref = (await chat.agent.session.choose()).ref
    await turn_to(chat, ref)


async def turn_to(chat: Chat, ref: ModelRef, *, why: str = "", refused: Refused | None = None) -> None:
    """`why` it is this one, where it is the first; `refused` is needed then.

    Raises: CallgateError, if there is no such model, or it may not be used; the old one stays then.
    """
    # Who sends lines through a pipe waits for answers anyway, and wants the same ones every time.
    judged = await judge(chat.agent, ref, may_guess=not chat.view.goes_line_by_line)
    before = chat.judgement if chat.begun.is_set() else None
    _refuse_useless(chat, judged.now, f"still {name_of(before.ref)}" if before else "")
    stop_correcting(chat)
    chat.judgement = judged.now
    chat.begun.set()
    chat.meter.forget(chat.conversation.messages)
    _say(chat, judged.now, why=why)
    if judged.later is None:
        if chat.is_in_job:
            await settle_doubts(chat)
        else:
            chat.later(partial(settle_doubts, chat))
        return
    correct = _correct(chat, judged.later, why=why, refused=refused or partial(_go_back, chat, before))
    chat.correcting = chat.task(correct)


async def settle_doubts(chat: Chat) -> None:
    """Asks the user, if nobody else knows. Part of a job: see `Chat`."""
    if await settle(chat):
        await judge_anew(chat)


async def judge_anew(chat: Chat, *, aloud: bool = True) -> None:
    """After something was learnt of the model, or the tools have changed."""
    before = chat.judgement
    try:
        chat.judgement = await look(chat.agent, chat.ref)
    except CallgateError as error:
        chat.view.failed(error)
        return
    if aloud and chat.judgement.line != before.line:
        _say(chat, chat.judgement)
    chat.show_status()


async def corrected(chat: Chat) -> None:
    """Facts that are late have come, and what there is to ask about them was asked. Part of a job: see `Chat`."""
    if chat.correcting is not None:
        with chat.doing(f"asking what {name_of(chat.ref)} can do"):
            while (correcting := chat.correcting) is not None:
                await asyncio.wait({correcting})
                if chat.correcting is correcting:
                    chat.correcting = None
        await settle_doubts(chat)


def stop_correcting(chat: Chat) -> None:
    correcting, chat.correcting = chat.correcting, None
    if correcting is not None and correcting is not asyncio.current_task():
        correcting.cancel()


async def _correct(chat: Chat, later: Awaitable[Judgement], *, why: str, refused: Refused) -> None:
    """The facts came late."""
    try:
        real = await later
        _refuse_useless(chat, real)
    except CallgateError as error:
        await refused(error)
        return
    chat.judgement = real
    _say(chat, real, why=why)
    chat.later(partial(settle_doubts, chat))


async def _go_back(chat: Chat, before: Judgement | None, error: CallgateError) -> None:
    assert before is not None
    chat.judgement = before
    if before.is_guess:
        await judge_anew(chat, aloud=False)
    error.message = f"{error.message}; back to {name_of(before.ref)}"
    chat.view.failed(error)
    _say(chat, chat.judgement)


def _refuse_useless(chat: Chat, judgement: Judgement, stays: str = "") -> None:
    failure = judgement.finding.failure
    if isinstance(failure, NotFound) and not judgement.is_guess:
        alike = chat.shelf.alike(judgement.ref.name)
        raise NotFound(
            "; ".join(filter(None, (failure.message, stays))),
            hint=f"did you mean {alike!r}?" if alike else failure.hint or "/models lists them",
        )
    if judgement.finding.capabilities.is_embedding:
        raise UsageError(
            f"{name_of(judgement.ref)} is a model for embedding, and can't chat", hint="/models lists others"
        )


def _say(chat: Chat, judgement: Judgement, *, why: str = "") -> None:
    line = judgement.line
    if why:
        name, _, rest = line.partition(" · ")
        line = f"{name}, {why} · {rest}"
    chat.note(line if why else f"now {line}", "first" if why else "swap", model=judgement.ref)
    chat.show_status()
