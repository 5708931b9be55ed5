"""How long a turn took, and how much of that the model wrote.

The wait for the first token shows only where the answer comes bit by bit: a call is held back until it is whole, and
some servers send an answer all at once. There the whole time counts as writing: nothing looks faster than it is.
"""

from __future__ import annotations

import time

FEWEST_PIECES = 4
LEAST_SHARE = 0.05
"""Of a turn: pieces that come in a shorter time came in one burst."""


class TurnTimes:
    """Of one turn, which begins now."""

    def __init__(self, *, streams: bool) -> None:
        self._streams = streams
        self._began = time.perf_counter()
        self._pieces: list[float] = []

    def hear(self) -> None:
        """A piece of text has come."""
        self._pieces.append(time.perf_counter() - self._began)

    @property
    def so_far(self) -> float:
        return time.perf_counter() - self._began

    def first(self, seconds: float, tokens: int | None) -> float | None:
        """When the first token came, in a turn of `seconds`; `None` where that doesn't show."""
        pieces = self._pieces
        if not self._streams or len(pieces) < FEWEST_PIECES or (tokens and len(pieces) * 2 < tokens):
            return None
        return pieces[0] if pieces[-1] - pieces[0] >= LEAST_SHARE * seconds else None

    def writing(self, seconds: float, tokens: int) -> float:
        """How long it would have written at all of its `tokens`, the first included."""
        first = self.first(seconds, tokens)
        if first is None or tokens < 2:
            return seconds
        return (self._pieces[-1] - first) * tokens / (tokens - 1)
