"""What the prompt gets to know of the chat, once it is there."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from callgate.runtime import McpServer

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat
    from callgate.chat.terminal.front import Front
    from callgate.chat.terminal.view import TerminalView
    from callgate.settings import Settings

HISTORY = "history"


def connect(front: Front, chat: Chat) -> None:
    front.past.open(os.path.join(chat.settings.data_folder, HISTORY))
    if not front.buffer.text:
        front.buffer.reset()
    front.interrupt = chat.stop
    front.completions.sources |= {
        "/model": lambda: {model.name: model.summary for model in chat.shelf.glance()},
        "/load": lambda: {kept.name: kept.title for kept in chat.conversations.listed(50)},
        "/tools on": lambda: _tools(chat, on=False),
        "/tools off": lambda: _tools(chat, on=True),
        "/tools ask": lambda: {allowed.path: "always allowed" for allowed in chat.agent.permissions.always},
        "/mcp log": lambda: _servers(chat),
        "/mcp restart": lambda: _servers(chat),
    }


def tell_log(view: TerminalView, settings: Settings) -> None:
    """What happens, above the prompt. What isn't a message, such as the text of an error, isn't told."""

    class Above(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            loop.call_soon_threadsafe(view.tell, f"{record.levelname.lower()}: {record.getMessage()}")

    loop = asyncio.get_running_loop()
    logger = logging.getLogger("callgate")
    logger.setLevel(settings.logging.level.upper())
    logger.addHandler(Above())


def _tools(chat: Chat, *, on: bool) -> Mapping[str, str]:
    return {entry.name: entry.tool.description for entry in chat.agent.toolbox.entries if entry.is_on is on}


def _servers(chat: Chat) -> Mapping[str, str]:
    return {source.name: source.state for source in chat.agent.toolbox.sources if isinstance(source, McpServer)}
