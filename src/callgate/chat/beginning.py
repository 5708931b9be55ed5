"""How a chat begins: the first line says which model it is, and why."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from callgate.chat.options import ChatOptions
from callgate.chat.preloading import loaded
from callgate.chat.servers import servers_are_up
from callgate.chat.swapping import turn_to
from callgate.runtime import Choice
from callgate.vocabulary import CallgateError, ModelRef

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat


async def begin(chat: Chat, options: ChatOptions) -> None:
    """The first job of a chat. If there is no model to begin with, the chat is over; stopped before, it is too."""
    try:
        await _begin(chat, options)
    except CallgateError as error:
        chat.fail(error)
    except asyncio.CancelledError:
        if not chat.begun.is_set() and not chat.is_over.is_set():
            chat.was_interrupted = True
            chat.is_over.set()
        raise


async def _begin(chat: Chat, options: ChatOptions) -> None:
    if options.system is not None:
        chat.conversation.set_system(options.system)
    if not chat.view.can_ask:  # a program's first line says what there will be, whenever it comes
        await servers_are_up(chat)
    if options.model and options.model != "auto":
        await _turn_to(chat, Choice(chat.shelf.meant(options.model), "as you said"))
        return
    if not chat.conversation.model:
        await loaded()
        await _turn_to(chat, await chat.agent.session.choose())
        return
    choice = Choice(ModelRef.parse(chat.conversation.model), "as before")
    try:
        await turn_to(chat, choice.ref, why=choice.why, refused=partial(_another, chat))
    except CallgateError as error:
        await _another(chat, error)


async def _turn_to(chat: Chat, choice: Choice) -> None:
    """There is no other: if it is no good, that is the end."""

    async def refused(error: CallgateError) -> None:
        chat.fail(error)

    await turn_to(chat, choice.ref, why=choice.why, refused=refused)


async def _another(chat: Chat, error: CallgateError) -> None:
    """The model of a conversation that is gone on with isn't there any more."""
    chat.view.failed(error)
    await _turn_to(chat, await chat.agent.session.choose())
