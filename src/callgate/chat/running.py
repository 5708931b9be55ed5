"""Puts a chat together and runs it until the user leaves: session, tools, conversation, model."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial

from callgate.chat.beginning import begin
from callgate.chat.chatting import Chat
from callgate.chat.commands import receive
from callgate.chat.options import ChatOptions, Describe
from callgate.chat.permitting import Asking
from callgate.chat.resuming import show_resumed
from callgate.chat.servers import start_servers
from callgate.chat.store import Conversations
from callgate.chat.views import View
from callgate.registry import told_to
from callgate.runtime import Agent, Fallback, Limits, Permissions, Session, servers_for, tools_at_hand
from callgate.settings import Settings


def run_in_lines(options: ChatOptions, settings: Settings, describe: Describe) -> int:
    """For pipes, programs and simple terminals. Gives the exit status: 1 if something failed. Raises: CallgateError."""
    from callgate.chat.json_view import JsonView
    from callgate.chat.plain_view import PlainView

    view = JsonView() if options.json else PlainView()
    if not asyncio.run(converse(view, options, settings, describe)):
        raise KeyboardInterrupt
    return 1 if view.failures else 0


async def converse(
    view: View,
    options: ChatOptions,
    settings: Settings,
    describe: Describe,
    *,
    started: Callable[[Chat], None] | None = None,
) -> bool:
    """Whether it ever began: not, if the user interrupted it before. Raises: CallgateError, if it can't begin."""
    named = servers_for(settings, options.mcp)
    tell = _told_in(asyncio.get_running_loop(), view)
    conversations = Conversations(settings.data_folder, tell)
    async with AsyncExitStack() as stack:
        told_to(tell)
        stack.callback(told_to, None)
        session = await stack.enter_async_context(Session(settings, surface="chat", on_loading=view.loading))
        if not view.goes_line_by_line:
            session.warm_up()
        toolbox = await stack.enter_async_context(
            tools_at_hand(settings, files=options.tools, own=options.own_tools, folder=options.folder, told=tell)
        )
        asking = Asking(view)
        agent = Agent(
            session,
            toolbox,
            permissions=Permissions.of(
                settings, allow=options.allow, deny=options.deny, ask=asking.may_run if asking.is_possible else None
            ),
            limits=Limits.of(settings),
            fallback=Fallback.of(settings, options.fallback, consent=asking.may_be_asked),
        )
        await agent.refreshed()
        chat = await _chat(agent, view, conversations, options, describe)
        stack.push_async_callback(chat.close)
        if started:
            started(chat)
        _stop_on_signals(chat)
        if named.specs or named.failures:
            chat.tools_opening = chat.task(start_servers(chat, named, tell, stack))
        chat.later(partial(begin, chat, options))
        if settings.detect.refresh == "background":
            chat.beside(_refresh(chat))
        await _talk(chat)
    if chat.failure is not None:
        raise chat.failure
    return not chat.was_interrupted


def _told_in(loop: asyncio.AbstractEventLoop, view: View) -> Callable[[str], None]:
    """What is told in any thread is shown in the one of the chat, and in no other: a screen takes no more than one."""
    own = threading.get_ident()

    def tell(text: str) -> None:
        if threading.get_ident() == own:
            view.tell(text)
            return
        with suppress(RuntimeError):  # the chat has ended meanwhile
            loop.call_soon_threadsafe(view.tell, text)

    return tell


async def _chat(
    agent: Agent, view: View, conversations: Conversations, options: ChatOptions, describe: Describe
) -> Chat:
    if options.resume is None:
        return Chat(agent, view, conversations, conversations.new(), describe)
    conversation, is_copy = await asyncio.to_thread(conversations.load, options.resume or None)
    chat = Chat(agent, view, conversations, conversation, describe)
    show_resumed(chat, is_copy=is_copy)
    return chat


async def _talk(chat: Chat) -> None:
    working = asyncio.create_task(chat.work())
    reading = asyncio.create_task(_read(chat))
    ending = asyncio.create_task(chat.is_over.wait())
    try:
        await asyncio.wait({working, reading, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (reading, working, ending):
            task.cancel()
        done = await asyncio.gather(reading, working, ending, return_exceptions=True)
        await chat.view.close()
    for outcome in done:
        if isinstance(outcome, Exception):
            raise outcome


async def _read(chat: Chat) -> None:
    if chat.view.goes_line_by_line:
        await chat.settled()
    if chat.is_over.is_set():
        return
    async for line in chat.view.lines():
        receive(chat, line)
        if chat.view.goes_line_by_line:
            await chat.settled()
        if chat.is_over.is_set():
            return


async def _refresh(chat: Chat) -> None:
    await chat.begun.wait()
    await chat.shelf.look(refresh=True)


def _stop_on_signals(chat: Chat) -> None:
    """Ctrl-C stops a turn, and leaves where there is none; whoever ends us ends us in order."""
    if sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if chat.view.can_ask:
            print(flush=True)  # behind the ^C that a terminal shows
        if not chat.stop():
            chat.is_over.set()

    with suppress(RuntimeError, ValueError):
        if chat.view.goes_line_by_line:
            loop.add_signal_handler(signal.SIGINT, interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, chat.is_over.set)
