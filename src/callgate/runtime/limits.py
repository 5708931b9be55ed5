"""How far an agent may go before it has to answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from callgate.runtime.toolbox import LONGEST_RESULT, PATIENCE_SECONDS
from callgate.settings import Settings

MOST_TURNS = 8
MOST_REPEATS = 3


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    turns: int = MOST_TURNS
    """How often a model may call tools. Then it has to answer without them."""
    repeats: int = MOST_REPEATS
    """How often the very same call is run."""
    call_seconds: float = PATIENCE_SECONDS
    """How long one tool may take."""
    seconds: float | None = None
    """How long all may take together. The time that a user takes to answer a question doesn't count."""
    result_characters: int = LONGEST_RESULT
    calls_at_once: int = 16
    """Those that a model makes beyond these wait for one to end."""
    calls_in_a_turn: int = 64

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        tools = settings.tools
        return cls(
            turns=tools.max_turns,
            repeats=tools.max_repeats,
            call_seconds=tools.call_timeout,
            seconds=tools.total_timeout or None,
        )


class TimeIsUp(Exception):
    """All the time that there was is gone."""


class Clock:
    """Counts the time that is left."""

    def __init__(self, seconds: float | None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """While somebody else is waited for."""
        started = time.monotonic()
        try:
            yield
        finally:
            if self._until is not None:
                self._until += time.monotonic() - started

    def check(self) -> None:
        """Raises: TimeIsUp."""
        if self.left == 0:
            raise TimeIsUp

    def timeout(self) -> asyncio.Timeout:
        return asyncio.timeout(self.left)
