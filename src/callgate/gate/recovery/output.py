"""What the engine gives out, and what it has to remember of that."""

from __future__ import annotations

from collections.abc import Sequence

from callgate.gate.recovery.pieces import Half, Mark, Piece, Text, Thinking

LOOKED_BACK = 64
"""Characters before a place that say whether a call may begin there."""
LINE_HEAD = 32
"""Characters at the beginning of a line that say what kind of line it is."""
_MANY = 4 * LOOKED_BACK


class Output:
    """Pieces in their row."""

    __slots__ = ("_line", "_recent", "after_call", "fresh", "pieces")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.fresh = True
        """Whether there were no words yet, or none since the last call."""
        self.after_call = False
        """Whether there was nothing but marks since the last call."""
        self._recent: list[str] = []
        self._line = ""
        """The head of the line in which `_recent` begins."""

    def collected(self) -> Sequence[Piece]:
        """What has come since the last time."""
        pieces, self.pieces = self.pieces, []
        return pieces

    def say(self, text: str) -> None:
        if text:
            if self.pieces and type(last := self.pieces[-1]) is Text:
                self.pieces[-1] = Text(last.text + text)
            else:
                self.pieces.append(Text(text))
            self.after_call = False
            self.passed(text)

    def passed(self, text: str) -> None:
        """Remembers words that went out by a shorter way."""
        self._recent.append(text)
        if self.fresh and not text.isspace():
            self.fresh = False
        if len(text) > LOOKED_BACK or len(self._recent) > _MANY:
            self._join()

    def think(self, text: str) -> None:
        self.pieces.append(Thinking(text, text))

    def think_mark(self, raw: str) -> None:
        self.pieces.append(Thinking("", raw))

    def mark(self, raw: str) -> None:
        if raw:
            self.pieces.append(Mark(raw))
            self._line = "" if "\n" in raw else self.line()
            self._recent.clear()

    def half(self) -> None:
        """What comes is a call that never ended, or words."""
        self.pieces.append(Half())

    def call(self, found: Sequence[Piece]) -> None:
        self.pieces.extend(found)
        self.after_call = self.fresh = True

    def before(self) -> str:
        """The end of the words before this place."""
        if len(self._recent) != 1 or len(self._recent[0]) > LOOKED_BACK:
            self._join()
        return self._recent[0]

    def line(self) -> str:
        """The head of the line that the words before this place end in."""
        return self._head(self.before())

    def _join(self) -> None:
        recent = "".join(self._recent)
        if len(recent) > LOOKED_BACK:
            self._line = self._head(recent[:-LOOKED_BACK])
            recent = recent[-LOOKED_BACK:]
        self._recent[:] = [recent]

    def _head(self, words: str) -> str:
        _, newline, last = words.rpartition("\n")
        return (last if newline else self._line + last)[:LINE_HEAD]
