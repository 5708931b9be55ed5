"""What a person sees: colours where there is a terminal for them, and never a control character of a stranger's."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from callgate.chat import cut, width_of
from callgate.vocabulary import CallgateError

_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""What JSON lets through, and terminals obey."""
_STYLES = {"good": "32", "bad": "31", "doubt": "33", "dim": "2", "strong": "1"}
NARROW = 40
NARROWEST_COLUMN = 24
NARROWEST_CELL = 6
ENDLESS = 1_000_000
INDENT = 4
REDRAW_SECONDS = 0.1


class Screen:
    """One of the standard streams. What isn't a terminal gets neither colours nor broken lines."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self._terminal = self.stream.isatty()
        self._colours = self._terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.width = max(NARROW, shutil.get_terminal_size().columns) if self._terminal else ENDLESS

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colours and text and style in _STYLES else text

    def line(self, text: str = "") -> None:
        print(text, file=self.stream)

    def wrapped(self, text: str, *, indent: int, mark: str = "", style: str = "") -> None:
        """A paragraph, `indent` columns in; `mark`, one column wide, stands before its first line."""
        start = " " * (indent - 2) + mark + " " if mark else " " * indent
        for line in self._broken(text, self.width - indent):
            self.line(start + self.styled(line, style))
            start = " " * indent

    def table(self, rows: Iterable[Sequence[tuple[str, str]]], *, gap: int = 2) -> None:
        """Headings and rows of cells, each a text and a style; the last takes the rest of the line, or those below."""
        rows = [[(printable(text), style) for text, style in row] for row in rows]
        columns = list(zip(*rows, strict=True))[:-1]
        widths = self._fitting([max(width_of(text) for text, _ in column) for column in columns], gap)
        margin = sum(widths) + gap * len(widths)
        below = self.width - margin < NARROWEST_COLUMN
        for row in rows:
            *cells, (text, style) = row
            start = "".join(
                self.styled(cell := cut(whole, width), look) + " " * (width - width_of(cell) + gap)
                for (whole, look), width in zip(cells, widths, strict=True)
            )
            if below:
                self.line(start.rstrip())
                if row is rows[0]:  # the heading of what is explained below needs no line of its own
                    continue
                start, margin = " " * INDENT, INDENT
            for line in self._broken(text, self.width - margin):
                self.line((start + self.styled(line, style)).rstrip())
                start = " " * margin

    def _fitting(self, widths: list[int], gap: int) -> list[int]:
        """The widths, the widest made narrower until all columns fit on a line."""
        widths = list(widths)
        while sum(widths) + gap * (len(widths) - 1) > self.width and max(widths) > NARROWEST_CELL:
            widths[widths.index(max(widths))] -= 1
        return widths

    def _broken(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width) or [""] if width < len(text) else [text]


def show_error(error: CallgateError, *, as_json: bool = False) -> None:
    """What went wrong and what to try next: on standard error for people, as an object for programs."""
    from callgate.cli.installation import as_installed

    hint = error.hint and as_installed(error.hint)
    if as_json:
        shown = {"type": type(error).__name__, "message": error.message, "hint": hint}
        print_json({"error": shown})
        return
    screen = Screen(sys.stderr)
    screen.line(screen.styled("error: ", "bad") + printable(error.message))
    if hint:
        screen.line(screen.styled(printable(f"hint: {hint}"), "dim"))


def print_json(record: Mapping[str, object]) -> None:
    """One JSON object on a line. Its strings may hold control characters, but none gets out as it is."""
    import msgspec

    line = msgspec.json.encode(record).decode().translate(_ESCAPED)
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        import json

        line = json.dumps(json.loads(line), separators=(",", ":"))  # all in ASCII, and nothing lost
    print(line, flush=True)


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


class LiveLine:
    """A line on standard error that changes while long work goes on, if a person is there to see it."""

    def __init__(self, *, hidden: bool = False) -> None:
        self._visible = sys.stderr.isatty() and not hidden
        self._screen = Screen(sys.stderr)
        self._drawn = False

    def show(self, text: str) -> None:
        if self._visible:
            self._drawn = True
            print(f"\r\x1b[K{cut(printable(text), self._screen.width - 1)}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """It is wiped."""
        if self._drawn:
            self._drawn = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """`text` on one line, with nothing in it that a terminal would obey."""
    return "".join(character if character.isprintable() else "�" for character in text)


def in_bytes(size: int | None) -> str:
    """As people say it; `None` where nobody knows."""
    if size is None:
        return "? MB"
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
