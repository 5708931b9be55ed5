"""A moment that is moved often and seldom reached: one timer does for many moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    def __init__(self, loop: asyncio.AbstractEventLoop, on_passed: Callable[[], None]) -> None:
        self._loop = loop
        self._on_passed = on_passed
        self._at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = 0.0

    def set(self, seconds: float) -> None:
        """From now. 0: never."""
        if not seconds:
            self._at = None
            return
        self._at = self._loop.time() + seconds
        if self._timer is None or self._at < self._rings_at:
            self._stop()
            self._wind()

    def clear(self) -> None:
        """There is none. The timer rings for nothing, which costs less than to stop it."""
        self._at = None

    def end(self) -> None:
        """For good. Who is told of it is forgotten, too."""
        self._stop()
        self._on_passed = _nothing

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wind(self) -> None:
        assert self._at is not None
        self._rings_at = self._at
        self._timer = self._loop.call_at(self._at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._at is None:
            return
        if self._at > self._rings_at:
            self._wind()
        else:
            self._at = None
            self._on_passed()


def _nothing() -> None: ...
