"""A run as JUnit XML, which every CI server shows: a suite for each model and mode, a test case for each trial."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from callgate.validate.records import Run, Trial
from callgate.validate.shown_json import json_text
from callgate.validate.standings import Column

LONGEST_MESSAGE = 500
LONGEST_DETAIL = 4000
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't hold, not even escaped."""
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_TO_ESCAPE = re.compile(r'[&<>"\t\n\r]')
_TO_ESCAPE_IN_TEXT = re.compile("[&<>\r]")


def junit(runs: Sequence[Run]) -> str:
    """What isn't supported is skipped; what broke before it could be judged is an error, the rest a failure."""
    suites = [(run, column, trials) for run in runs for column, trials in _suites(run).items()]
    counted = _counts([trial for _, _, trials in suites for trial in trials])
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{_attributes({'name': 'callgate', **counted})}>"]
    for run, column, trials in suites:
        lines.extend(_suite(run, column, trials))
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def _suites(run: Run) -> dict[Column, list[Trial]]:
    suites: dict[Column, list[Trial]] = {}
    for trial in run.trials:
        suites.setdefault(Column(trial.model, trial.mode), []).append(trial)
    return suites


def _suite(run: Run, column: Column, trials: Sequence[Trial]) -> Iterator[str]:
    about = run.about
    yield f"<testsuite{_attributes({'name': str(column), **_counts(trials), 'timestamp': about.at.rstrip('Z')})}>"
    yield "<properties>"
    for name, value in {
        "model": column.model,
        "mode": column.mode,
        "digest": about.digest or "",
        "suite": about.suite,
        "trials": about.trials,
        "seed": about.seed,
        "backend": about.backend,
        "callgate": about.callgate,
        "complete": str(about.complete).lower(),
    }.items():
        yield f"<property{_attributes({'name': name, 'value': value})}/>"
    yield "</properties>"
    for trial in trials:
        named = {
            "name": f"{trial.case} [{trial.check}, trial {trial.trial + 1}]",
            "classname": f"callgate.{_without_dots(column.model)}.{_without_dots(column.mode)}",
            "time": _seconds(trial.ms),
        }
        inside = _inside(trial)
        yield f"<testcase{_attributes(named)}>{inside}</testcase>" if inside else f"<testcase{_attributes(named)}/>"
    yield "</testsuite>"


def _inside(trial: Trial) -> str:
    message = (trial.reason or trial.kind or trial.outcome)[:LONGEST_MESSAGE]
    if trial.passed is None:
        return f"<skipped{_attributes({'message': message})}/>"
    if trial.passed:
        return ""
    element = "error" if _broke(trial) else "failure"
    detail = f"expected: {json_text(trial.expected, LONGEST_DETAIL)}\ngot: {json_text(trial.got, LONGEST_DETAIL)}"
    about = _attributes({"message": message, "type": trial.kind or "failed"})
    return f"<{element}{about}>{_text(detail)}</{element}>"


def _broke(trial: Trial) -> bool:
    return trial.passed is False and (trial.kind or "").startswith("error:")


def _counts(trials: Sequence[Trial]) -> dict[str, object]:
    errors = sum(map(_broke, trials))
    return {
        "tests": len(trials),
        "failures": sum(trial.passed is False for trial in trials) - errors,
        "errors": errors,
        "skipped": sum(trial.passed is None for trial in trials),
        "time": _seconds(sum(trial.ms for trial in trials)),
    }


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _without_dots(name: str) -> str:
    """CI servers fold class names at their dots."""
    return name.replace(".", "_")


def _attributes(given: Mapping[str, object]) -> str:
    return "".join(
        f' {name}="{_TO_ESCAPE.sub(lambda found: _ESCAPES[found[0]], _NOT_XML.sub("�", str(value)))}"'
        for name, value in given.items()
    )


def _text(text: str) -> str:
    return _TO_ESCAPE_IN_TEXT.sub(lambda found: _ESCAPES[found[0]], _NOT_XML.sub("�", text))
