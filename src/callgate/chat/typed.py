"""What is typed where a question stands, and isn't its answer: a question may come up while somebody is typing."""

from __future__ import annotations

import re

from callgate.chat.command_names import ALSO, NAMES

_COMMAND = re.compile(r"/[a-z?]+(?=\s|$)", re.IGNORECASE)
MOST_WORDS = 2
"""Of an answer: what has more is a message."""


def is_command(text: str) -> bool:
    """Whether it looks like one, be there such a command or not; a path such as `/srv/model.gguf` doesn't."""
    return _COMMAND.match(text) is not None


def is_done_at_once(text: str) -> bool:
    """Whether it is a command that waits for nothing, and so for no question either."""
    word = text.split(maxsplit=1)[0].lower() if text.strip() else ""
    named = NAMES.get(ALSO.get(word, word))
    return named is not None and named.at_once


def is_no_answer(text: str, *, gives_way: bool) -> bool:
    """Whether it is a command, or a message, which only a question that gives way is no match for."""
    return is_command(text) or (gives_way and len(text.split()) > MOST_WORDS)
