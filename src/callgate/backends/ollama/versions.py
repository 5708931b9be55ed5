"""What old Ollamas lack."""

from __future__ import annotations

import re

from callgate.vocabulary import ChatRequest, Notice

Version = tuple[int, int, int]

TOOLS: Version = (0, 3, 0)
STREAMED_TOOLS: Version = (0, 8, 0)
SHOWN_PROMPTS: Version = (0, 11, 5)
CALL_IDS: Version = (0, 12, 11)
JINJA_TEMPLATES: Version = (0, 30, 0)

_UNKNOWN: Version = (0, 0, 0)  # what somebody built by themselves says
_NUMBERS = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", re.ASCII)


def is_older(version: str | None, than: Version) -> bool:
    """Whether a server is surely older: one that doesn't tell its version counts as new."""
    found = _NUMBERS.match(version.strip()) if version else None
    if not found:
        return False
    parsed = (int(found[1]), int(found[2]), int(found[3] or 0))
    return parsed != _UNKNOWN and parsed < than


def lacks(request: ChatRequest, version: str | None) -> list[Notice]:
    """What of `request` a server of this version won't do."""

    def too_old(what: str, needed: Version, so: str) -> Notice:
        return Notice("server_too_old", f"{what} need Ollama {shown(needed)}, and this is {version}: {so}")

    if is_older(version, TOOLS):
        return [too_old("tools", TOOLS, "the model won't see them")]
    found = []
    if request.stream and is_older(version, STREAMED_TOOLS):
        found.append(too_old("tools while streaming", STREAMED_TOOLS, "the answer comes in one piece"))
    if _tells_calls_apart_by_id(request) and is_older(version, CALL_IDS):
        found.append(too_old("calls with ids", CALL_IDS, "the model sees by their order alone which result is whose"))
    return found


def shown(version: Version) -> str:
    return ".".join(map(str, version if version[2] else version[:2]))


def _tells_calls_apart_by_id(request: ChatRequest) -> bool:
    """Several calls of one tool in one turn: nothing but their ids says which result belongs to which."""
    return any(len({call.name for call in message.calls}) < len(message.calls) for message in request.messages)
