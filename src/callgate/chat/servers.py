"""MCP servers of a chat: they take their time to start, and neither the prompt nor the first line waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from callgate.chat.swapping import judge_anew
from callgate.chat.words import plural
from callgate.runtime import McpServer, Servers, limits_for, open_servers
from callgate.vocabulary import CallgateError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat


async def start_servers(chat: Chat, named: Servers, told: Callable[[str], None], stack: AsyncExitStack) -> None:
    """Those that fail are told of, and the rest works; `stack` closes them."""
    chat.starting_servers = tuple(spec.name for spec in named.specs)
    try:
        with chat.doing(f"starting {plural(len(named.specs), 'MCP server')}"):
            opened = await open_servers(named, limits_for(chat.settings), told)
            stack.push_async_callback(opened.close)
            for failure in opened.failures:
                _note_failure(chat, failure.name, failure.error)
            for server in opened.servers:
                await _add(chat, server)
            for notice in await chat.agent.refreshed():
                chat.view.tell(notice.message, "warning")
    finally:
        chat.starting_servers = ()
    chat.later(partial(heed_tools, chat))


async def _add(chat: Chat, server: McpServer) -> None:
    """Two sources may have one name: then the first keeps it."""
    try:
        chat.agent.toolbox.add(server)
    except CallgateError as error:
        _note_failure(chat, server.name, error)
        await server.close()


def _note_failure(chat: Chat, name: str, error: CallgateError) -> None:
    chat.failed_servers[name] = error.message
    chat.view.tell(error.message, "warning")


async def servers_are_up(chat: Chat) -> None:
    """Or have failed."""
    if chat.tools_opening is not None:
        await asyncio.wait({chat.tools_opening})


async def heed_tools(chat: Chat) -> None:
    """Tells if there are tools now where there were none, or none where there were some. Part of a job."""
    if chat.begun.is_set() and chat.judgement.has_tools != bool(chat.agent.toolbox.tools):
        await judge_anew(chat)
