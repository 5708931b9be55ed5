"""Runs as a table: a row for each case, a column for each model and mode, each cell a text and a style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callgate.validate.records import NEVER_CALLING, Run
from callgate.validate.standings import Cell, standings
from callgate.validate.statistics import Rate

Text = tuple[str, str]
GOOD, POOR = 0.9, 0.5
UNSUPPORTED = "n/s"


def headlines(runs: Sequence[Run]) -> Iterator[list[Text]]:
    """Headings; then for each model and mode the rate that passed, and how sure that is."""
    found = standings(runs)
    yield [(heading, "dim") for heading in ("MODEL", "MODE", "PASSED", "HOW SURE THAT IS")]
    for column in found.columns:
        cell = found.totals[column]
        rate = cell.rate
        more = []
        if rate.of:
            low, high = rate.interval
            more = [f"{rate.passed} of {rate.of}; truly {low:.0%} to {high:.0%}"]
        more += _apart(cell)
        if cell.unsupported:
            more.append(f"{cell.unsupported} not supported")
        name = [(column.model, "strong"), (column.mode, "")]
        yield [*name, (_percent(rate), _style(rate)), ("; ".join(more), "dim")]


def _apart(cell: Cell) -> list[str]:
    """Who can't call anything passes wherever nothing is to be called: that must not look like skill."""
    calling, restraint = Cell(), Cell()
    for trial in cell.trials:
        (restraint if trial.check in NEVER_CALLING else calling).trials.append(trial)
    if not (calling.rate.of and restraint.rate.of):
        return []
    return [f"{_percent(calling.rate)} where it had to act, {_percent(restraint.rate)} where it must not call"]


def rows_of(runs: Sequence[Run]) -> list[list[Text]]:
    """Headings first: models, where there are several, and modes. What wasn't tried is empty."""
    found = standings(runs)
    headings: list[list[Text]] = [[("CASE", "dim"), *((column.mode, "dim") for column in found.columns)]]
    if len(found.models) > 1:
        headings.insert(0, [("", ""), *((column.model, "strong") for column in found.columns)])
    return [
        *headings,
        *([(case, ""), *(_cell(found.cells.get((case, column))) for column in found.columns)] for case in found.rows),
        [("all", "strong"), *(_cell(found.totals[column]) for column in found.columns)],
    ]


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return "", ""
    rate = cell.rate
    if not rate.of:
        return UNSUPPORTED, "dim"
    return f"{_percent(rate):>4} {rate.passed}/{rate.of}", _style(rate)


def _percent(rate: Rate) -> str:
    """Never 100 % where one failed, nor 0 % where one passed."""
    if rate.value is None:
        return "–"
    whole = min(round(rate.value * 100), 99 if rate.passed < rate.of else 100)
    return f"{max(whole, 1 if rate.passed else 0)}%"


def _style(rate: Rate) -> str:
    if rate.value is None:
        return "dim"
    return "good" if rate.value >= GOOD else "doubt" if rate.value >= POOR else "bad"
