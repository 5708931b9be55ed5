"""The table of a validation on a screen of any width: what doesn't fit beside the rest comes below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callgate.chat import cut, width_of
from callgate.cli.screen import Screen, printable
from callgate.validate import Run, headlines, rows_of

GAP = 2
WIDEST_CASE = 28
WIDEST_COLUMN = 22
Text = tuple[str, str]


def show_table(screen: Screen, runs: Sequence[Run]) -> None:
    """What passed in all; then each case."""
    screen.table(headlines(runs))
    for block in _blocks(rows_of(runs), screen.width):
        screen.line()
        _show(screen, block, _widths(block, screen.width))
    if any(trial.passed is None for run in runs for trial in run.trials):
        screen.line()
        screen.wrapped("n/s: not supported by this model or server; neither passed nor failed", indent=0, style="dim")


def _blocks(rows: Sequence[Sequence[Text]], width: int) -> Iterator[list[list[Text]]]:
    """As many columns as fit, then the next, each time after the names of the cases."""
    widths = _widths(rows, width)
    start = 1
    while start < len(widths):
        end, taken = start, widths[0]
        while end < len(widths) and (end == start or taken + GAP + widths[end] <= width):
            taken += GAP + widths[end]
            end += 1
        yield [[row[0], *row[start:end]] for row in rows if any(text for text, _ in row[start:end])]
        start = end


def _widths(rows: Sequence[Sequence[Text]], room: int) -> list[int]:
    """So that at least one column fits beside the names of the cases."""
    most_case, most = min(WIDEST_CASE, (room - GAP) // 2), min(WIDEST_COLUMN, (room - GAP) // 2)
    widest = (max(width_of(printable(text)) for text, _ in column) for column in zip(*rows, strict=True))
    return [min(width, most if place else most_case) for place, width in enumerate(widest)]


def _show(screen: Screen, rows: Sequence[Sequence[Text]], widths: Sequence[int]) -> None:
    for row in rows:
        line = ""
        for (text, style), width in zip(row, widths, strict=True):
            cell = _tail(printable(text), width) if "://" in text else cut(printable(text), width)
            line += screen.styled(cell, style) + " " * (width - width_of(cell) + GAP)
        screen.line(line.rstrip())


def _tail(address: str, width: int) -> str:
    """Models of one server differ in the ends of their names."""
    while width_of(address) > width and len(address) > 1:
        address = "…" + address[2:]
    return address
