"""Errors that say that a prompt is too long, in the words of each kind of server."""

from __future__ import annotations

import re

from callgate.vocabulary import ContextExceeded

_ABOUT = re.compile(
    r"exceed\w*.{0,80}context|context (?:size|length|window).{0,80}exceed|maximum context length|maximum model length"
    r"|(?:longer|greater|larger) than.{0,40}context|prompt is too long|too many tokens|context overflow"
    r"|`?inputs`? tokens.{0,40}must be <=",
    re.IGNORECASE | re.DOTALL,
)
_ROOM = re.compile(
    r"(?:context (?:size|length|window)|model length|must be <=|tokens >)\D{0,24}(\d{1,9})", re.IGNORECASE
)
_NEEDED = re.compile(
    r"(?:resulted in|request(?:ed)?|a total of|input|prompt|given|too long)\b\D{0,40}?(\d{1,9})\b[` ]*(?:input|token)",
    re.IGNORECASE,
)
HINT = "shorten the conversation, offer fewer tools, or have the model loaded with a larger context"


def context_exceeded(said: str, place: str, model: str) -> ContextExceeded | None:
    """What a server said, if it is about that."""
    if not _ABOUT.search(said):
        return None
    room, needed = (int(found[1]) if (found := each.search(said)) else None for each in (_ROOM, _NEEDED))
    has = "the prompt is longer" if needed is None else f"the prompt has {needed:,} tokens, which is more"
    runs = "than the context" if room is None else f"than the context of {room:,}"
    return ContextExceeded(f"{has} {runs} that {place} runs {model!r} with", needed=needed, room=room, hint=HINT)
