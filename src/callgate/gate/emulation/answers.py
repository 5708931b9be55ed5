"""Reads an emulated answer while it is written: words at once, calls when they are whole.

An answer that doesn't keep to its convention is read by whoever knows others, or else given out as it is. So is a call
that ends within its arguments, behind a `Half`: half of what a tool was to be told is no call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from callgate.gate.emulation.conventions import ARGUMENTS, NAME, Convention
from callgate.gate.emulation.shapes import Shape
from callgate.gate.emulation.strays import NewReader, Strays
from callgate.gate.emulation.understanding import understood
from callgate.gate.recovery import Found, Piece

FORMAT = "emulated"
LONGEST_HELD = 200_000
"""A call that is longer was never held to anything: it is given out as it is."""


class EmulatedAnswer(ABC):
    """Takes an answer's text as it arrives, in steps: each takes what it can from the buffer, and says whether the next
    one may go on. `otherwise` makes what reads whatever doesn't keep to the convention.
    """

    def __init__(self, shapes: Mapping[str, Shape], otherwise: NewReader | None) -> None:
        self._shapes = shapes
        self._strays = Strays(otherwise)
        self._buffer = ""
        self._step: Callable[[], bool] = self._words
        self._out: list[Piece] = []

    def passes(self, text: str) -> bool:  # noqa: ARG002
        """None of it is given out as it is."""
        return False

    def feed(self, text: str) -> Sequence[Piece]:
        self._buffer += text
        while self._step():
            pass
        out, self._out = self._out, []
        return out

    def close(self) -> Sequence[Piece]:
        left, self._buffer = self._buffer, ""
        self._end_with(left)
        self._out += self._strays.end()
        self._step = self._words
        out, self._out = self._out, []
        return out

    @abstractmethod
    def _words(self) -> bool:
        """A step, and where all goes that comes after the end."""

    @abstractmethod
    def _end_with(self, left: str) -> None:
        """In the middle of a step, which has `left` something."""


def call_in(raw: str, convention: Convention, shapes: Mapping[str, Shape], *, cut: bool = False) -> Found | None:
    """The call that `raw` is; where it was cut, only if its arguments are whole."""
    value = _decoded(raw + "}" if cut else raw)
    if not isinstance(value, dict):
        return None
    name, arguments = value.get(NAME), value.get(ARGUMENTS[convention])
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    meant = understood(shapes[name], arguments) if name in shapes else arguments
    return Found(name, meant if isinstance(meant, dict) else arguments, raw, FORMAT)


def _decoded(raw: str) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
