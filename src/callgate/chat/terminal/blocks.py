"""Markdown that comes in pieces: what can't change any more is told from what still may."""

from __future__ import annotations

import re

LARGEST_OPEN = 3000
"""Characters of a block that doesn't end; it is let go in parts."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BEGINS = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s|#{1,6}\s|(?:`{3,}|~{3,})|>")
"""What begins a block without an empty line before it: items of a list, headings, code, quotations."""


class MarkdownBlocks:
    """Of one answer. A paragraph, an item of a list, a table or a piece of code is done when the next thing begins."""

    def __init__(self) -> None:
        self.open = ""
        """What has come of the last block."""
        self._line = ""
        """The last line, which isn't whole yet: it is part of `open`."""
        self._fence = ""
        """How the code began that `open` is part of."""

    def feed(self, text: str) -> list[str]:
        """The blocks that are done with this, each with the empty lines behind it."""
        done: list[str] = []
        for piece in text.splitlines(keepends=True):
            self._line += piece
            self.open += piece
            if piece.endswith("\n"):
                done += self._line_ended()
                self._line = ""
            if len(self.open) > LARGEST_OPEN:
                done.append(self._let_go())
        return done

    def close(self) -> str:
        """The last block."""
        last, self.open, self._line, self._fence = self.open, "", "", ""
        return last

    def _line_ended(self) -> list[str]:
        line, before = self._line, self.open[: len(self.open) - len(self._line)]
        done = []
        if not self._fence:
            if before.strip() and self._begins_anew(line, before):
                done.append(before)
                self.open = line
            if fence := _FENCE.match(line):
                self._fence = fence[1]
        elif line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
            self._fence = ""
            done.append(self.open)
            self.open = ""
        return done

    def _begins_anew(self, line: str, before: str) -> bool:
        if not line.strip():
            return False
        if _BEGINS.match(line):
            return not (line.startswith(">") and before.startswith(">"))
        return before.endswith("\n\n") and not line.startswith(("  ", "\t"))

    def _let_go(self) -> str:
        """Most of a block that is too long: whole lines, or else whole words."""
        at = self.open.rfind("\n", 0, len(self.open) - len(self._line)) + 1
        if at < LARGEST_OPEN // 2 and not self._fence:
            at = self.open.rfind(" ") + 1
        at = at if at > len(self._fence) + 1 else len(self.open)
        part, rest = self.open[:at], self.open[at:]
        if self._fence:
            part, rest = f"{part.rstrip()}\n{self._fence}\n", f"{self._fence}\n{rest}"
        self.open = rest
        self._line = self._line if rest.endswith(self._line) else rest
        return part
