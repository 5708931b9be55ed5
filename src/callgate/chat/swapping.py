"""Turning to a model, at the start and in mid-conversation. The history stays: the gate writes it for each anew."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from callgate.chat.judging import Judged, Judgement, judge, look, looked_again
from callgate.chat.unknowns import settle
from callgate.chat.words import name_of
from callgate.vocabulary import CallgateError, ModelRef, NotFound, UsageError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat


async def swap_to(chat: Chat, text: str) -> None:
    """What `/model` does. A model that isn't there leaves things as they are. Raises: CallgateError."""
    ref = chat.shelf.meant(text)
    if ref.scheme == "auto":
        ref = (await chat.agent.session.choose()).ref
    await turn_to(chat, ref)


async def turn_to(chat: Chat, ref: ModelRef, *, why: str = "", first: bool = False) -> None:
    """Raises: CallgateError, if there is no such model, or it may not be used; the old one stays then."""
    # Who sends lines through a pipe waits for answers anyway, and wants the same ones every time.
    judged = await judge(chat.agent, ref, may_guess=not chat.view.goes_line_by_line)
    _refuse_useless(chat, judged.now, first)
    stop_correcting(chat)
    chat.judgement = judged.now
    chat.meter.forget(chat.conversation.messages)
    _say(chat, judged.now, why=why, first=first)
    if judged.later is not None:
        chat.correcting = asyncio.create_task(_correct(chat, judged, why=why, first=first))
    elif await settle(chat):
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


def stop_correcting(chat: Chat) -> None:
    if chat.correcting is not None:
        chat.correcting.cancel()
        chat.correcting = None


async def _correct(chat: Chat, judged: Judged, *, why: str, first: bool) -> None:
    """The facts came late."""
    assert judged.later is not None
    real = await looked_again(judged.later)
    if real is None or chat.ref != real.ref:
        return
    chat.judgement = real
    _say(chat, real, why=why, first=first)
    if await settle(chat):
        await judge_anew(chat)


def _refuse_useless(chat: Chat, judgement: Judgement, first: bool) -> None:
    failure = judgement.finding.failure
    if isinstance(failure, NotFound) and not judgement.is_guess:
        alike = chat.shelf.alike(judgement.ref.name)
        stays = "" if first else f"; still {name_of(chat.ref)}"
        raise NotFound(
            f"{failure.message}{stays}",
            hint=f"did you mean {alike!r}?" if alike else failure.hint or "/models lists them",
        )
    if judgement.finding.capabilities.is_embedding:
        raise UsageError(
            f"{name_of(judgement.ref)} is a model for embedding, and can't chat", hint="/models lists others"
        )


def _say(chat: Chat, judgement: Judgement, *, why: str = "", first: bool = False) -> None:
    line = judgement.line
    if first and why:
        name, _, rest = line.partition(" · ")
        line = f"{name}, {why} · {rest}"
    chat.note(line if first else f"now {line}", "first" if first else "swap", model=judgement.ref)
    chat.show_status()
