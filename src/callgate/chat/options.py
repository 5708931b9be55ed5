"""How a chat is started, and what it borrows from the command line."""

from __future__ import annotations

from typing import Protocol

import msgspec

from callgate.runtime import ModelReport


class ChatOptions(msgspec.Struct, frozen=True, kw_only=True):
    model: str | None = None
    resume: str | None = None
    """A conversation to go on with; empty: the last one."""
    system: str | None = None
    json: bool = False
    plain: bool = False
    verbose: bool = False
    """Why tools are on or off is told, and more."""
    tools: tuple[str, ...] = ()
    """Python files, or JSON lists of tools."""
    folder: str | None = None
    """Whose files may be read."""
    own_tools: bool = True
    mcp: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    fallback: str | None = None


class Describe(Protocol):
    """Shows a report to a person, as `callgate check` does."""

    def __call__(self, report: ModelReport, *, why: bool) -> str: ...
