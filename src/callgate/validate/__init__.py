"""Proves what a model can do: a suite of real turns, the survey over all models, and their reports."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.validate.records import Mode, Outcome, Run, RunAbout, Trial, read_run

__all__ = [
    "Mode",
    "Outcome",
    "Run",
    "RunAbout",
    "Trial",
    "read_run",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Mode": "records",
        "Outcome": "records",
        "Run": "records",
        "RunAbout": "records",
        "Trial": "records",
        "read_run": "records",
    },
)
