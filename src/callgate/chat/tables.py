"""Rows of words in columns, for a screen of any width."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

GAP = 2
NARROWEST = 6


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
    """Each row on one line; the widest columns are cut until it fits."""
    if not rows:
        return []
    widths = [max(width_of(cell) for cell in column) for column in zip(*rows, strict=True)]
    while sum(widths) + GAP * (len(widths) - 1) + indent > width and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return [_line(row, widths, indent) for row in rows]


def _line(row: Sequence[str], widths: Sequence[int], indent: int) -> str:
    cells = [cut(cell, width) for cell, width in zip(row, widths, strict=True)]
    padded = (cell + " " * (width - width_of(cell)) for cell, width in zip(cells, widths, strict=True))
    return (" " * indent + (" " * GAP).join(padded)).rstrip()
