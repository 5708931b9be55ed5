"""How `callgate validate` shows what it does, and what came of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import msgspec

from callgate.cli.screen import LiveLine, Screen, print_json, printable
from callgate.cli.validate_table import show_table
from callgate.validate import Comparison, KnownCase, Run, Trial, failures

REDRAW_SECONDS = 0.1
SHOWN_FAILURES = 20
_VERDICTS = {"better": "good", "worse": "bad"}
_DONE_TO_GUESS = 3
"""Trials after which the time that is left can be told."""


class ProgressLine:
    """On standard error, if a person is there: which trial it is, and how long the rest will take."""

    def __init__(self, models: int) -> None:
        self._live = LiveLine()
        self._models = models
        self._began = 0.0
        self._drawn = 0.0
        self._failed = 0

    def begin(self, model: str, number: int) -> None:
        """The `number`th model, from 1."""
        self._began, self._failed = time.monotonic(), 0
        self._label = f"[{number}/{self._models}] {model}" if self._models > 1 else model
        self._live.show(f"loading … {self._label}")

    def step(self, trial: Trial, done: int, total: int) -> None:
        self._failed += trial.passed is False
        now = time.monotonic()
        if now - self._drawn < REDRAW_SECONDS and done < total:
            return
        self._drawn = now
        seconds = (now - self._began) / done * (total - done)
        left = f", {in_time(seconds)} left" if done >= _DONE_TO_GUESS and done < total else ""
        failed = f", {self._failed} failed" if self._failed else ""
        self._live.show(f"{done} of {total}{failed}{left}  {trial.mode} {trial.case}  {self._label}")

    def end(self) -> None:
        self._live.end()


def in_time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_cases(cases: Sequence[KnownCase], *, as_json: bool) -> None:
    if as_json:
        for known in cases:
            print_json({**msgspec.to_builtins(known.case), "tools": [tool.name for tool in known.tools]})
        return
    rows = [[("case", "dim"), ("check", "dim"), ("suite", "dim"), ("what it is", "dim")]]
    for known in cases:
        suite = "yours" if known.is_users else "quick, full" if known.case.quick else "full"
        rows.append([(known.case.name, "strong"), (known.case.check, ""), (suite, ""), (known.case.about, "")])
    Screen().table(rows)


def show_runs(runs: Sequence[Run], *, why: bool) -> None:
    """A row for each case, a column for each model and mode."""
    screen = Screen()
    show_table(screen, runs)
    _show_unsupported(screen, runs)
    if why:
        _show_failures(screen, runs)
    elif counted := ", ".join(f"{len(trials)} {kind}" for kind, trials in failures(runs)):
        screen.line()
        screen.wrapped(printable(f"failed: {counted} (--why shows them)"), indent=0)


def _show_unsupported(screen: Screen, runs: Sequence[Run]) -> None:
    said = dict.fromkeys(
        f"{trial.model} {trial.mode}: {trial.reason}"
        for run in runs
        for trial in run.trials
        if trial.passed is None and trial.reason
    )
    for line in said:
        screen.wrapped(printable(line), indent=2, style="dim")


def _show_failures(screen: Screen, runs: Sequence[Run]) -> None:
    for kind, trials in failures(runs):
        screen.line()
        screen.line(screen.styled(printable(kind), "bad") + f"  {len(trials)}")
        for trial in trials[:SHOWN_FAILURES]:
            screen.wrapped(
                printable(f"{trial.model} {trial.mode} {trial.case} #{trial.trial}: {trial.reason}"), indent=2
            )
            for label, value in (("expected", trial.expected), ("got", trial.got)):
                text = msgspec.json.encode(value).decode()
                screen.wrapped(
                    printable(f"{label} {text[:400]}{'…' if len(text) > 400 else ''}"), indent=6, style="dim"
                )
        if len(trials) > SHOWN_FAILURES:
            screen.line(f"  … and {len(trials) - SHOWN_FAILURES} more: --json has them all")


def show_comparison(comparison: Comparison) -> None:
    screen = Screen()
    screen.line()
    for sentence in comparison.sentences():
        style = next((style for word, style in _VERDICTS.items() if f"significantly {word}" in sentence), "")
        screen.wrapped(printable(sentence), indent=0, style=style)


def note(text: str) -> None:
    screen = Screen(sys.stderr)
    screen.line(screen.styled("note: ", "doubt") + printable(text))
