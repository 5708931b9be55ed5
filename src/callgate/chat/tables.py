"""Rows of words in columns, for a screen of any width."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

GAP = 2
NARROWEST = 6
WORTH_IT = 12
"""Columns below which the last one says too little."""


def width_of(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def cut(text: str, width: int) -> str:
    """`text` in no more than `width` columns."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[: max(width - 1, 0)] if len(text) >= width else text[:-1]
    return text + "…"


def in_columns(rows: Sequence[Sequence[str]], width: int, indent: int = 2) -> list[str]:
    """Each row on one line. Where it doesn't fit, the last column is cut, then left out, then the widest is cut."""
    if not rows:
        return []
    widths = [max(width_of(cell) for cell in column) for column in zip(*rows, strict=True)]
    if (room := _room(widths[:-1], width, indent) - GAP) < widths[-1]:
        if len(widths) > 2 and room < WORTH_IT:
            return in_columns([row[:-1] for row in rows], width, indent)
        widths[-1] = max(NARROWEST, room)
    while _room(widths, width, indent) < 0 and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return [_line(row, widths, indent) for row in rows]


def in_lines(text: str, width: int) -> list[str]:
    """A sentence, broken between words."""
    return textwrap.wrap(text, max(20, width), subsequent_indent="  ") or [""]


def _room(widths: Sequence[int], width: int, indent: int) -> int:
    return width - indent - sum(widths) - GAP * (len(widths) - 1)


def _line(row: Sequence[str], widths: Sequence[int], indent: int) -> str:
    cells = [cut(cell, width) for cell, width in zip(row, widths, strict=True)]
    padded = (cell + " " * (width - width_of(cell)) for cell, width in zip(cells, widths, strict=True))
    return (" " * indent + (" " * GAP).join(padded)).rstrip()
