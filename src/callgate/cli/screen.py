"""What a person sees: colours where there is a terminal for them, and never a control character of a stranger's."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Sequence
from typing import TextIO

_STYLES = {"good": "32", "bad": "31", "doubt": "33", "dim": "2", "strong": "1"}
NARROW = 60
REDRAW_SECONDS = 0.1


class Screen:
    """One of the standard streams."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        terminal = self.stream.isatty()
        self._colours = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self.width = max(NARROW, min(shutil.get_terminal_size((100, 24)).columns, 160)) if terminal else 100

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colours and style in _STYLES else text

    def line(self, text: str = "") -> None:
        print(text, file=self.stream, flush=True)

    def wrapped(self, text: str, *, indent: int) -> None:
        margin = " " * indent
        for line in textwrap.wrap(text, max(self.width - indent, 20)) or [""]:
            self.line(margin + line)

    def table(self, rows: Iterable[Sequence[tuple[str, str]]], *, gap: int = 2) -> None:
        """Rows of cells, each a text and a style; the last column takes what is left of the line."""
        rows = [[(printable(text), style) for text, style in row] for row in rows]
        widths = [max(len(text) for text, _ in column) for column in zip(*rows, strict=True)]
        for row in rows:
            cells, left = [], self.width
            for (text, style), width in zip(row[:-1], widths, strict=False):
                cells.append(self.styled(text, style) + " " * (width - len(text) + gap))
                left -= width + gap
            text, style = row[-1]
            cells.append(self.styled(shortened(text, max(left, 16)), style))
            self.line("".join(cells).rstrip())


class Progress:
    """A count on standard error while long work goes on, if a person is there to see it."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._count = 0
        self._shown = 0.0
        self._visible = sys.stderr.isatty()

    def step(self) -> None:
        self._count += 1
        if self._visible and time.monotonic() - self._shown > REDRAW_SECONDS:
            self._shown = time.monotonic()
            print(f"\r{self._doing} {self._count:,}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """`text` on one line, with nothing in it that a terminal would obey."""
    return "".join(character if character.isprintable() else "�" for character in text)


def shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
