"""How often a server that keeps ending is started again, and how soon."""

from __future__ import annotations

import time
from collections.abc import Callable

FORGIVEN_AFTER = 300.0
"""Seconds after which an end no longer counts."""
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0


class Restarts:
    """The ends of a server, lately."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._ends: list[float] = []

    def count(self) -> int:
        """Those that still count."""
        now = self._clock()
        self._ends = [end for end in self._ends if now - end < FORGIVEN_AFTER]
        return len(self._ends)

    def note(self) -> None:
        """It has ended, or didn't start."""
        self._ends.append(self._clock())

    def forget(self) -> None:
        self._ends.clear()

    @property
    def is_hopeless(self) -> bool:
        return self.count() > self._most

    def pause(self) -> float:
        """Seconds to wait before the next start: none after the first end, then ever more."""
        before = self.count() - 1
        return 0.0 if before < 1 else min(_FIRST_PAUSE * 2.0 ** min(before - 1, 30), _LONGEST_PAUSE)
