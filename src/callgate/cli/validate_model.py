"""`callgate validate` for one model, check by check: each passes, fails, or isn't supported."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Literal

from callgate.cli import DONE, UNMET
from callgate.cli.screen import Screen, print_json, printable
from callgate.cli.validate import add_shared_arguments, validated, wanted_by
from callgate.cli.validate_arguments import require_writable, write_reports
from callgate.validate import Run, Suite, Trial, chosen_cases, label_of
from callgate.vocabulary import ModelRef, UsageError

EXAMPLES = """\
examples:
  callgate validate-model --modelId=qwen3:8b
  callgate validate-model --modelId=qwen3:8b --fullSuite
  callgate validate-model --model-id tiny --full-suite --min-pass 0.8 --json

exit status: 0 every check passed · 1 something failed (the line says what) · 2 wrong usage
             3 a check failed: less than --min-pass of its trials passed (0.9, unless you say otherwise)
             4 a server could not be reached · 130 interrupted
"""

LEAST = 0.9
Verdict = Literal["pass", "fail", "not supported by this model or server"]
UNSUPPORTED: Verdict = "not supported by this model or server"
_STYLES: Mapping[Verdict, str] = {"pass": "good", "fail": "bad", UNSUPPORTED: "dim"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help="a model, as `callgate check` takes it")
    parser.add_argument(
        "--modelId", "--model-id", "--model_id", "--model", dest="model_id", metavar="MODEL", help="the same"
    )
    parser.add_argument(
        "--fullSuite", "--full-suite", "--full_suite", "--full", dest="full", action="store_true", help="the full suite"
    )
    add_shared_arguments(parser, least="if less of a check passes")


def run(arguments: argparse.Namespace) -> int:
    model = arguments.model_id or arguments.model
    if not model:
        raise UsageError("no model is named", hint="callgate validate-model --modelId=tiny")
    require_writable(arguments)
    label = label_of(ModelRef.parse(model))
    suite: Suite = "full" if arguments.full else "quick"
    least = LEAST if arguments.min_pass is None else arguments.min_pass
    # As it would be used: what it comes to in other ways is for `callgate validate`.
    wanted = wanted_by(arguments, chosen_cases(suite, folders=arguments.cases), suite=suite)
    runs, status = validated([model], wanted, as_json=arguments.json, keep=True)
    checks = _checks(runs)
    if checks and not arguments.json:
        _show(label, checks, least)
    if arguments.json and checks:
        print_json(
            {"type": "checks", "modelId": label, "checks": {name: verdict(of, least) for name, of in checks.items()}}
        )
    write_reports(arguments, runs)
    return status or (UNMET if any(verdict(of, least) == "fail" for of in checks.values()) else DONE)


def verdict(trials: Sequence[Trial], least: float) -> Verdict:
    judged = [trial for trial in trials if trial.passed is not None]
    if not judged:
        return UNSUPPORTED
    return "pass" if sum(trial.passed is True for trial in judged) / len(judged) >= least else "fail"


def _checks(runs: Sequence[Run]) -> dict[str, list[Trial]]:
    checks: dict[str, list[Trial]] = {}
    for trial in (trial for run in runs for trial in run.trials):
        checks.setdefault(trial.check, []).append(trial)
    return checks


def _show(model: str, checks: Mapping[str, Sequence[Trial]], least: float) -> None:
    screen = Screen()
    screen.line(screen.styled(printable(model), "strong"))
    rows = []
    for name, trials in checks.items():
        judged = verdict(trials, least)
        passed = sum(trial.passed is True for trial in trials)
        why = next((trial.reason for trial in trials if not trial.passed and trial.reason), "")
        count = "" if judged == UNSUPPORTED else f"{passed}/{sum(trial.passed is not None for trial in trials)}"
        rows.append([(name, ""), (judged, _STYLES[judged]), (count, ""), ("" if judged == "pass" else why, "dim")])
    screen.table(rows)
