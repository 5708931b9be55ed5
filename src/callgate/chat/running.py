"""Puts a chat together and runs it until the user leaves: session, tools, conversation, model."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

from callgate.chat.chatting import Chat
from callgate.chat.commands import receive
from callgate.chat.options import ChatOptions, Describe
from callgate.chat.permitting import Asking
from callgate.chat.resuming import show_resumed
from callgate.chat.store import Conversations
from callgate.chat.swapping import turn_to
from callgate.chat.views import View
from callgate.chat.words import plural
from callgate.registry import told_to
from callgate.runtime import (
    Agent,
    Choice,
    Fallback,
    Limits,
    Permissions,
    Session,
    Toolbox,
    limits_for,
    open_servers,
    servers_for,
    tools_at_hand,
)
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, ModelRef

log = logging.getLogger(__name__)


def run_in_lines(options: ChatOptions, settings: Settings, describe: Describe) -> int:
    """For pipes, programs and simple terminals. Gives the exit status: 1 if something failed. Raises: CallgateError."""
    from callgate.chat.json_view import JsonView
    from callgate.chat.plain_view import PlainView

    view = JsonView() if options.json else PlainView()
    asyncio.run(converse(view, options, settings, describe))
    return 1 if view.failures else 0


async def converse(
    view: View,
    options: ChatOptions,
    settings: Settings,
    describe: Describe,
    *,
    started: Callable[[Chat], None] | None = None,
) -> None:
    """Raises: CallgateError, if it can't even begin."""
    told_to(view.tell)
    conversations = Conversations(settings.data_folder, view.tell)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(Session(settings, surface="chat", on_loading=view.loading))
        toolbox = await stack.enter_async_context(
            tools_at_hand(settings, files=options.tools, own=options.own_tools, folder=options.folder, told=view.tell)
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
        chat.tools_opening = asyncio.create_task(_open_servers(chat, options, stack))
        stack.push_async_callback(_ended, chat.tools_opening)
        await _begin(chat, options)
        if settings.detect.refresh == "background":
            chat.beside(_refresh(chat))
        await _talk(chat)


async def _chat(
    agent: Agent, view: View, conversations: Conversations, options: ChatOptions, describe: Describe
) -> Chat:
    if options.resume is None:
        return Chat(agent, view, conversations, conversations.new(), describe)
    conversation, is_copy = await asyncio.to_thread(conversations.load, options.resume or None)
    chat = Chat(agent, view, conversations, conversation, describe)
    show_resumed(chat, is_copy=is_copy)
    return chat


async def _begin(chat: Chat, options: ChatOptions) -> None:
    """The first line says which model it is, and why."""
    if options.system is not None:
        chat.conversation.set_system(options.system)
    if options.model and options.model != "auto":
        choice = Choice(chat.shelf.meant(options.model), "as you said")
    elif chat.conversation.model:
        choice = Choice(ModelRef.parse(chat.conversation.model), "as before")
    else:
        choice = await chat.agent.session.choose()
    try:
        await turn_to(chat, choice.ref, why=choice.why, first=True)
    except CallgateError as error:
        if options.model and options.model != "auto":
            raise
        chat.view.failed(error)
        choice = await chat.agent.session.choose()
        await turn_to(chat, choice.ref, why=choice.why, first=True)


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
    async for line in chat.view.lines():
        receive(chat, line)
        if chat.view.goes_line_by_line:
            await chat.settled()
        if chat.is_over.is_set():
            return


async def _open_servers(chat: Chat, options: ChatOptions, stack: AsyncExitStack) -> None:
    """MCP servers take their time; the first turn waits for them, the prompt doesn't."""
    named = servers_for(chat.settings, options.mcp)
    if not named.specs and not named.failures:
        return
    chat.doing(f"starting {plural(len(named.specs), 'MCP server')}")
    try:
        opened = await open_servers(named, limits_for(chat.settings), chat.view.tell)
        stack.push_async_callback(opened.close)
        for failure in opened.failures:
            chat.failed_servers[failure.name] = failure.error.message
            chat.view.tell(failure.error.message, "warning")
        _add(chat.agent.toolbox, opened.servers)
        for notice in await chat.agent.refreshed():
            chat.view.tell(notice.message, "warning")
    finally:
        chat.doing("")


def _add(toolbox: Toolbox, servers: tuple[object, ...]) -> None:
    from callgate.runtime import McpServer

    for server in servers:
        if isinstance(server, McpServer):
            toolbox.add(server)


async def _refresh(chat: Chat) -> None:
    await chat.shelf.look(refresh=True)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _stop_on_signals(chat: Chat) -> None:
    """Ctrl-C stops a turn, and leaves where there is none; whoever ends us ends us in order."""
    if sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if not chat.stop():
            chat.is_over.set()

    with suppress(RuntimeError, ValueError):
        if chat.view.goes_line_by_line:
            loop.add_signal_handler(signal.SIGINT, interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, chat.is_over.set)
