"""Models of which nobody knows whether they have tools: the user is asked, once a model and session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from callgate.chat.judging import nobody_knows
from callgate.chat.views import Ask
from callgate.chat.words import name_of
from callgate.runtime import probe_live
from callgate.vocabulary import Answer, CallgateError, ModelRef, StorageError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

QUESTION = "Does this model support tools? (y/n/auto-detect)"
MOST_TRIES = 3
_REPLIES = {
    "y": "yes",
    "yes": "yes",
    "n": "no",
    "no": "no",
    "a": "auto",
    "auto": "auto",
    "auto-detect": "auto",
    "auto detect": "auto",
    "autodetect": "auto",
}
_CHOICES = {"y": "it does, and that is kept", "n": "it doesn't, and that is kept", "auto-detect": "try it out"}


async def settle(chat: Chat) -> bool:
    """Asks, if there is anything to ask; whether something was learnt."""
    judgement = chat.judgement
    if not nobody_knows(judgement) or judgement.ref in chat.asked:
        return False
    chat.asked.add(judgement.ref)
    match chat.settings.detect.unknown:
        case "no":
            return False
        case "probe":
            return await _try_out(chat, judgement.ref)
    match await _reply(chat):
        case "yes":
            return _keep(chat, judgement.ref, tools=True)
        case "no":
            return _keep(chat, judgement.ref, tools=False)
        case "auto":
            return await _try_out(chat, judgement.ref)
    return False


async def _reply(chat: Chat) -> str | None:
    """`None` is the safe default, for this session."""
    before = f"{name_of(chat.ref)}: y and n are kept, Enter leaves tools off for this session"
    for _ in range(MOST_TRIES):
        typed = await chat.view.ask(Ask(words=QUESTION, before=(before,), choices=_CHOICES, gives_way=True))
        if typed is None:
            return None
        if reply := _REPLIES.get(typed.strip().lower()):
            return reply
        before = f"{name_of(chat.ref)}: y, n or auto-detect; Enter leaves tools off for now"
    return None


def _keep(chat: Chat, ref: ModelRef, *, tools: bool) -> bool:
    try:
        chat.agent.session.knowledge.say(ref, tools=tools)
    except StorageError as error:
        chat.agent.session.knowledge.note(ref, tools=tools, why="you said so")
        chat.view.tell(f"that holds for this session only: {error.message}", "warning")
    return True


async def _try_out(chat: Chat, ref: ModelRef) -> bool:
    """A right call is kept; anything else proves nothing."""
    session = chat.agent.session
    with chat.doing("asking it to call a test tool"):
        try:
            found = await probe_live(session, ref, patience=chat.settings.detect.probe_timeout)
            called = any(piece.claim == "tools" and piece.answer == Answer.YES for piece in found)
            if called:
                facts = (await session.find(ref)).facts
                await asyncio.to_thread(session.knowledge.observe, ref, facts, tools=True, how="auto_detected")
            else:
                chat.view.tell(f"not known: {'; '.join(piece.detail for piece in found)}")
        except CallgateError as error:
            chat.view.tell(f"it couldn't be tried out: {error.message}")
            return False
        except asyncio.CancelledError:
            chat.view.tell("not known: it wasn't tried to the end")
            raise
    return called
