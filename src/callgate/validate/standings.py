"""Trials put in rows and columns: a row for each case, a column for each model and mode, as every report shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callgate.validate.records import MODES, Run, Trial
from callgate.validate.statistics import Rate

SHORTEST_MS = 0.05
"""In which nothing can be measured."""


class Column(NamedTuple):
    """A model, and how the tools reached it."""

    model: str
    mode: str

    def __str__(self) -> str:
        return f"{self.model} {self.mode}"


class Cell:
    """The trials of one case, or of all, in one column."""

    __slots__ = ("trials",)

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    @property
    def rate(self) -> Rate:
        """Of what was judged: what isn't supported is neither passed nor failed."""
        return Rate(sum(trial.passed is True for trial in self.trials), len(self.trials) - self.unsupported)

    @property
    def unsupported(self) -> int:
        return sum(trial.passed is None for trial in self.trials)

    @property
    def why_unsupported(self) -> str:
        return next((trial.reason for trial in self.trials if trial.passed is None and trial.reason), "")


class Standings(NamedTuple):
    """How everything went."""

    columns: tuple[Column, ...]
    rows: tuple[str, ...]
    cells: dict[tuple[str, Column], Cell]
    """Without one, the case wasn't tried there."""
    totals: dict[Column, Cell]

    def of_model(self, model: str) -> list[Column]:
        return [column for column in self.columns if column.model == model]

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(column.model for column in self.columns))


def row_of(case: str) -> str:
    """Cases of a public suite come in thousands (`bfcl/simple/17`): they share the row of their group."""
    return case.rpartition("/")[0] or case


def standings(runs: Iterable[Run]) -> Standings:
    """In the order of the runs; modes in their usual order, then those that nobody knows."""
    cells: dict[tuple[str, Column], Cell] = {}
    totals: dict[Column, Cell] = {}
    rows: dict[str, None] = {}
    models: dict[str, int] = {}
    for run in runs:
        for trial in run.trials:
            column, row = Column(trial.model, trial.mode), row_of(trial.case)
            rows.setdefault(row)
            models.setdefault(trial.model, len(models))
            cells.setdefault((row, column), Cell()).trials.append(trial)
            totals.setdefault(column, Cell()).trials.append(trial)
    columns = sorted(totals, key=lambda column: (models[column.model], _mode_order(column.mode), column.mode))
    return Standings(tuple(columns), tuple(rows), cells, totals)


def _mode_order(mode: str) -> int:
    known: Sequence[str] = MODES
    return known.index(mode) if mode in known else len(known)


def failures(runs: Iterable[Run]) -> list[tuple[str, list[Trial]]]:
    """What failed, by kind, the most frequent first."""
    found = [trial for run in runs for trial in run.trials if trial.passed is False]
    counts = Counter(trial.kind or "other" for trial in found)
    return [(kind, [trial for trial in found if (trial.kind or "other") == kind]) for kind, _ in counts.most_common()]


def tokens_per_second(trial: Trial) -> float | None:
    """How fast the model wrote, without the wait for its first token where that is known."""
    if not trial.tokens:
        return None
    writing = trial.ms if trial.writing_ms is None else trial.writing_ms
    return trial.tokens * 1000 / writing if writing >= SHORTEST_MS else None
