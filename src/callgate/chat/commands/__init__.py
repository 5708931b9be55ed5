"""What can be done in a chat besides talking: a line that begins with a slash."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from callgate.chat.command_names import ALSO, NAMES
from callgate.chat.commands.of_conversations import clear, export, load, retry, save, set_system, undo
from callgate.chat.commands.of_models import capabilities, evidence, list_models, take_model
from callgate.chat.commands.of_tools import servers, tools
from callgate.chat.swapping import swap_to
from callgate.chat.turns import take_turn
from callgate.vocabulary import UsageError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

__all__ = ["receive"]

KEYS = (
    ("Enter", "sends; Alt-Enter, or a \\ at the end of a line, begins another one"),
    ("Ctrl-C", "stops an answer"),
    ("Ctrl-T", "shows what the model thought"),
    ("Ctrl-D", "leaves"),
    ("a space", "before a slash makes it a message, not a command"),
)
NARROW = 60

Command = Callable[["Chat", str], Awaitable[None]]


async def show_help(chat: Chat, _: str) -> None:
    width = shutil.get_terminal_size().columns
    commands = [(named.usage, named.help) for named in NAMES.values()]
    lines: list[str] = []
    for rows in (commands, KEYS):
        margin = max(len(row[0]) for row in rows) + 3 if width >= NARROW else 4
        for left, right in rows:
            text = textwrap.wrap(right, max(20, width - margin - 1))
            if width < NARROW:
                lines.append(left)
            else:
                text[0] = f"{left.ljust(margin - 1)} {text[0]}"
            lines += [
                text[0] if width >= NARROW else " " * margin + text[0],
                *(" " * margin + more for more in text[1:]),
            ]
        lines.append("")
    chat.view.show_text("\n".join(lines).rstrip(), "help", {"commands": [list(row) for row in commands]})


async def leave(chat: Chat, _: str) -> None:
    chat.is_over.set()


_COMMANDS: dict[str, Command] = {
    "/help": show_help,
    "/model": take_model,
    "/models": list_models,
    "/tools": tools,
    "/mcp": servers,
    "/caps": capabilities,
    "/why": evidence,
    "/system": set_system,
    "/save": save,
    "/load": load,
    "/export": export,
    "/retry": retry,
    "/undo": undo,
    "/clear": clear,
    "/exit": leave,
}


def receive(chat: Chat, text: str) -> None:
    """One line, or several at once, that the user typed. What can't be done now is done after what goes on."""
    if not text.strip():
        return
    if not text.startswith("/"):
        chat.later(partial(take_turn, chat, text.strip()), message=text.strip())
        return
    word, _, rest = text.strip().partition(" ")
    name = ALSO.get(word.lower(), word.lower())
    command = _COMMANDS.get(name)
    if command is None:
        near = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {near[0]}?" if near else "/help lists them; with a space before it, it goes to the model"
        chat.view.failed(UsageError(f"there is no command {word[:40]!r}", hint=hint))
        return
    rest = rest.strip()
    may_be_done = chat.begun.is_set() or name == "/exit"
    if NAMES[name].at_once and may_be_done and chat.is_busy and not chat.view.goes_line_by_line:
        chat.beside(command(chat, rest))
        return
    if name == "/model" and rest and chat.in_turn:
        chat.view.tell(f"{rest} after this turn", "reply")
        chat.later(partial(swap_to, chat, rest))
        return
    chat.later(partial(command, chat, rest), message=word if command is retry else None)
