"""Where tools come from: functions of a program, tools of our own, the servers of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from callgate.vocabulary import Image, Tool


class Outcome(msgspec.Struct, frozen=True):
    """What a tool said."""

    content: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


class ToolSource(Protocol):
    """Tools that somebody runs. Its name stands before a tool's where two sources have the same."""

    @property
    def name(self) -> str: ...

    async def tools(self) -> Sequence[Tool]:
        """Those that it has now. Raises: CallgateError, if they can't be had."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """A tool that fails is no error here: it says so. Cancelled, it stops what it does."""
        ...

    def is_harmless(self, name: str) -> bool:
        """Whether it may be called without asking: as we know, not as the source says."""
        ...

    async def close(self) -> None: ...
