"""One message of the user's up to its answer, in a chat."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from callgate.chat.servers import heed_tools, servers_are_up
from callgate.chat.swapping import corrected, judge_anew
from callgate.chat.words import as_kept, name_of
from callgate.detect import TemplateSandbox, find_in
from callgate.runtime import Answering, LoopEvent, ModelChanged, ToolFinished, ToolStarted, keep_last_model
from callgate.vocabulary import CallgateError, ChatRequest, Message, ModelRef, Notice

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

_SAID_BY_THE_LINE = ("tools_off", "tools_emulated")
"""Notices of what the chat has told when it turned to the model."""


async def take_turn(chat: Chat, text: str) -> None:
    """Asks, shows what happens, and keeps it. Whatever goes wrong, the conversation stays; cancelled, it stops."""
    chat.unanswered = text
    try:
        await _ready(chat)
    except asyncio.CancelledError:
        chat.view.tell("stopped")
        raise
    ref = chat.ref
    if warning := chat.meter.warning(chat.context, text):
        chat.view.tell(warning, "warning")
    chat.conversation.say(Message(role="user", content=text))
    answering = chat.agent.answer(ref, ChatRequest(model=ref.name, messages=chat.conversation.messages))
    chat.learner.believed = {ref: chat.judgement.tools}
    stopped = await _follow(chat, answering)
    if answering.messages:
        chat.unanswered = None
    else:
        chat.conversation.take_back(1)
    if not stopped:
        await _afterwards(chat, ref)


async def _ready(chat: Chat) -> None:
    """What is known of the model is right, and all tools are there."""
    await servers_are_up(chat)
    await corrected(chat)
    await heed_tools(chat)


async def _follow(chat: Chat, answering: Answering) -> bool:
    """Whether it was stopped."""
    failure: CallgateError | None = None
    stopped = False
    kept = 0
    chat.in_turn = True
    chat.meter.begin()
    chat.view.begin(as_kept(answering.ref))
    chat.show_status()
    try:
        async with aclosing(answering.events()) as events:
            async for event in events:
                _show(chat, event)
                kept = _keep(chat, answering, kept)
    except asyncio.CancelledError:
        stopped = True
        if task := asyncio.current_task():
            task.uncancel()
    except CallgateError as error:
        failure = error
    finally:
        _keep(chat, answering, kept)
        chat.in_turn = False
        chat.view.end(stopped=stopped)
        chat.show_status()
    if failure is not None:
        failure.hint = "; ".join(filter(None, (failure.hint, "/retry asks again, /model takes another")))
        chat.view.failed(failure)
    return stopped


def _show(chat: Chat, event: LoopEvent) -> None:
    if isinstance(event, Notice) and event.kind in _SAID_BY_THE_LINE:
        return
    chat.meter.hear(event)
    if isinstance(event, ModelChanged):
        chat.note(f"now {name_of(event.ref)}, for this turn: {event.why}", "swap")
        return
    chat.view.show(event)
    if isinstance(event, ToolStarted | ToolFinished):
        chat.show_status()


def _keep(chat: Chat, answering: Answering, kept: int) -> int:
    """As it goes: what a process loses that is killed is what the model was just saying."""
    messages = answering.messages
    for message in messages[kept:]:
        chat.conversation.say(message, as_kept(answering.ref) if message.role == "assistant" else None)
    return len(messages)


async def _afterwards(chat: Chat, ref: ModelRef) -> None:
    await asyncio.to_thread(keep_last_model, chat.settings, ref)
    if await chat.learner.learn(chat):
        await judge_anew(chat)
    chat.beside(_see_what_is_loaded(chat, ref))


async def _see_what_is_loaded(chat: Chat, ref: ModelRef) -> None:
    """A server may give a model less context than it could have."""
    try:
        backend = chat.agent.session.backend(ref)
        look = getattr(backend, "loaded_facts", backend.facts)
        facts = msgspec.structs.replace(await look(ref.name), templates=None)
    except CallgateError:  # which its next turn will meet, and tell
        return
    loaded = find_in(facts, TemplateSandbox()).capabilities.loaded_context
    if loaded:
        chat.loaded[ref] = loaded
        chat.show_status()
