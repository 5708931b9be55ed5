"""Runs as the rows of a table, each cell a text and a style: a row for each case, a column for each model and mode."""

from __future__ import annotations

from collections.abc import Sequence

from callgate.validate.records import Run
from callgate.validate.standings import Cell, standings

Text = tuple[str, str]
GOOD, POOR = 0.9, 0.5


def rows_of(runs: Sequence[Run]) -> list[list[Text]]:
    """The first has the headings, the last the sums with what may be chance in them."""
    found = standings(runs)
    several = len(found.models) > 1
    headings = [(str(column) if several else column.mode, "dim") for column in found.columns]
    end = ("", "")
    return [
        [("case", "dim"), *headings, end],
        *(
            [(case, ""), *(_cell(found.cells.get((case, column))) for column in found.columns), end]
            for case in found.rows
        ),
        [("all", "strong"), *(_sum(found.totals[column]) for column in found.columns), end],
    ]


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return "", ""
    rate = cell.rate
    if rate.value is None:
        return "not supported", "dim"
    return f"{rate.passed}/{rate.of}", "good" if rate.value >= GOOD else "doubt" if rate.value >= POOR else "bad"


def _sum(cell: Cell) -> Text:
    text, style = _cell(cell)
    if (value := cell.rate.value) is None:
        return text, style
    low, high = cell.rate.interval
    return f"{text} {value:.0%} ({low:.0%}–{high:.0%})", style
