"""Words of an emulated answer that don't keep to its convention.

Not every server holds an answer to what it is asked for: then a model may call tools in a form of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from callgate.gate.recovery import Piece, Text


class AnyReader(Protocol):
    """Finds calls in a text as it arrives."""

    def feed(self, text: str) -> Sequence[Piece]: ...

    def close(self) -> Sequence[Piece]: ...


NewReader = Callable[[], AnyReader]


class Strays:
    """Read by another reader, a new one for each row of them; without one they are words."""

    def __init__(self, new_reader: NewReader | None) -> None:
        self._new_reader = new_reader
        self._reader: AnyReader | None = None

    def read(self, text: str) -> Sequence[Piece]:
        if not text:
            return ()
        if self._new_reader is None:
            return (Text(text),)
        if self._reader is None:
            self._reader = self._new_reader()
        return self._reader.feed(text)

    def end(self) -> Sequence[Piece]:
        """What was still held back."""
        reader, self._reader = self._reader, None
        return () if reader is None else reader.close()

    def give_up(self) -> Sequence[Piece]:
        """From here on they are words."""
        self._new_reader = None
        return self.end()
