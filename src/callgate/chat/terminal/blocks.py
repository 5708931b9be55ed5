"""Markdown that comes in pieces: what can't change any more is told from what still may."""

from __future__ import annotations

from itertools import pairwise

from markdown_it import MarkdownIt

LARGEST_OPEN = 16_000
"""Characters of a block that doesn't end; more than these are let go at the end of a line."""


class MarkdownBlocks:
    """Of one answer. All blocks but the last are done: only that one can grow, be it a list, a table or code."""

    def __init__(self) -> None:
        self._parser = MarkdownIt("commonmark").enable("table")
        self.open = ""
        """What has come of the last block."""

    def feed(self, text: str) -> list[str]:
        """The blocks that are done with this."""
        self.open += text
        if "\n" not in text and len(self.open) <= LARGEST_OPEN:
            return []
        lines = self.open.splitlines(keepends=True)
        starts = [
            token.map[0]
            for token in self._parser.parse(self.open)
            if token.level == 0 and token.map and token.nesting >= 0
        ]
        cut = starts[-1] if len(starts) > 1 else 0
        done = ["".join(lines[start:end]) for start, end in pairwise(starts)]
        self.open = "".join(lines[cut:])
        if len(self.open) > LARGEST_OPEN and (end := self.open.rfind("\n")) > 0:
            done.append(self.open[: end + 1])
            self.open = self.open[end + 1 :]
        return [block for block in done if block.strip()]

    def close(self) -> str:
        """The last block."""
        last, self.open = self.open, ""
        return last
