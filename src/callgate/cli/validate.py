"""Prove it: a suite of real turns against a model, each judged by exact name, exact arguments, and use of the result.

Tools reach the model in up to three ways: `native`, as its server passes them through, with nothing mended;
`recovered`, the same with what callgate mends, calls in the text above all; `emulated`, described in the prompt.
Without --modes, the quick suite takes the way that callgate itself would, the full suite all three.

What came of a whole suite is kept: models that passed come first where a fall-back is needed.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import get_args

from callgate.cli import DONE, INTERRUPTED, UNMET, status_of
from callgate.cli.inputs import option
from callgate.cli.screen import print_json, show_error
from callgate.cli.validate_arguments import (
    add_report_arguments,
    count,
    modes_named,
    names_in,
    require_writable,
    share,
    write_reports,
)
from callgate.cli.validate_view import ProgressLine, note, show_cases, show_comparison, show_runs
from callgate.settings import Settings, load_settings
from callgate.validate import (
    TRIALS,
    KnownCase,
    Mode,
    Run,
    Suite,
    Validation,
    Wanted,
    bfcl_cases,
    chosen_cases,
    compare,
    keep_run,
    label_of,
    pass_rates,
    read_run,
    usual_modes,
)
from callgate.vocabulary import CallgateError, ModelRef, StorageError, UsageError

BFCL = "bfcl"
EXAMPLES = """\
examples:
  callgate validate tiny                              the quick suite, in a minute
  callgate validate qwen3:8b llama3.2 --suite full    two models side by side, tools in every way
  callgate validate qwen3:8b --modes native,emulated --trials 20
  callgate validate qwen3:8b --min-pass 0.9 --junit result.xml      for CI: exit status 3 below that
  callgate validate qwen3:8b --json > monday.jsonl
  callgate validate qwen3:8b --against monday.jsonl --html report.html
  callgate validate tiny --only one-call --why        what was asked, expected and got
  callgate validate tiny --cases my-cases/            and your own
  callgate validate qwen3:8b --bfcl bfcl_eval/data --modes native,emulated      the Berkeley leaderboard's questions
  callgate validate --list --suite full               the cases

exit status: 0 done · 1 something failed (the line says what) · 2 wrong usage
             3 less than --min-pass passed in a mode · 4 a server could not be reached
             130 interrupted; what was done is shown
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a model, as `callgate check` takes it")
    parser.add_argument("--suite", choices=get_args(Suite), default="quick", help="quick (the default), or full")
    add_shared_arguments(parser, least="if less passes, in each mode by itself")
    parser.add_argument(
        "--modes", type=modes_named, metavar="MODES", help="how tools reach it: native, recovered, emulated; or `all`"
    )
    parser.add_argument(
        "--only",
        action="extend",
        type=names_in,
        default=[],
        metavar="CASE",
        help="only this case (`long-*`) or this check (repeatable, or with commas)",
    )
    parser.add_argument(
        "--bfcl",
        metavar="DIR",
        help="instead of our suite, that of the Berkeley Function Calling Leaderboard, out of your copy of its data, "
        "judged by its rules; --only names categories (simple, multiple, parallel, irrelevance; live_simple …)",
    )
    parser.add_argument("--limit", type=count, metavar="N", help="with --bfcl: so many of each category, evenly")
    parser.add_argument("--list", action="store_true", help="show the cases, and do nothing")
    parser.add_argument("--why", action="store_true", help="show what failed: what was expected, and what came")
    parser.add_argument("--against", metavar="FILE", help="compare with an earlier run, as --json printed it")


def add_shared_arguments(parser: argparse.ArgumentParser, *, least: str) -> None:
    parser.add_argument(
        "--trials",
        type=count,
        metavar="N",
        help=f"trials of each case ({TRIALS['quick']}; {TRIALS['full']} in the full suite)",
    )
    parser.add_argument(
        "--cases", action="append", default=[], metavar="DIR", help="a folder with your own cases (repeatable)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="chooses wordings and values (0)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=option,
        metavar="K=V",
        help="for sampling (temperature=0; repeatable)",
    )
    parser.add_argument("--min-pass", type=share, metavar="SHARE", help=f"exit with 3 {least}; 0.9, say")
    add_report_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    cases = _cases(arguments)
    if arguments.list:
        show_cases(cases, as_json=arguments.json)
        return DONE
    if not arguments.models:
        raise UsageError("no model is named", hint="callgate validate tiny; `callgate models` lists what is in reach")
    require_writable(arguments)
    before = read_run(arguments.against) if arguments.against else None
    modes = arguments.modes or usual_modes(arguments.suite)
    suite = BFCL if arguments.bfcl else arguments.suite
    wanted = wanted_by(arguments, cases, suite=suite, modes=modes)
    keep = not (arguments.only or arguments.bfcl)
    runs, status = validated(arguments.models, wanted, as_json=arguments.json, keep=keep)
    comparison = compare(before, runs) if before is not None and runs else None
    if runs and not arguments.json:
        show_runs(runs, why=arguments.why)
    if comparison:
        print_json(comparison.as_json()) if arguments.json else show_comparison(comparison)
    write_reports(arguments, runs, comparison)
    return status or unmet(runs, arguments.min_pass)


def _cases(arguments: argparse.Namespace) -> tuple[KnownCase, ...]:
    """Raises: UsageError, if a case is no good."""
    if not arguments.bfcl:
        if arguments.limit:
            raise UsageError("--limit is for --bfcl", hint="--trials says how often each of our cases is tried")
        return chosen_cases(arguments.suite, folders=arguments.cases, only=arguments.only)
    if arguments.cases:
        raise UsageError("--bfcl and --cases don't go together", hint="run one after the other")
    categories = [name for text in arguments.only for name in text.split(",")]
    return bfcl_cases(arguments.bfcl, categories or None, arguments.limit)


def wanted_by(
    arguments: argparse.Namespace,
    cases: tuple[KnownCase, ...],
    *,
    suite: str,
    modes: tuple[Mode, ...] | None = None,
) -> Wanted:
    return Wanted(
        cases=cases,
        suite=suite,
        trials=1 if suite == BFCL else arguments.trials or TRIALS[suite],
        modes=modes,
        seed=arguments.seed,
        options=dict(arguments.option),
    )


def validated(models: Sequence[str], wanted: Wanted, *, as_json: bool, keep: bool) -> tuple[list[Run], int]:
    """One model after the other; what was tried until Ctrl-C counts. Gives the exit status, too: 0 if all went well."""
    settings = load_settings()
    refs = [ModelRef.parse(model) for model in dict.fromkeys(models)]
    runs: list[Run] = []
    status = DONE
    progress = ProgressLine(len(refs))
    for number, ref in enumerate(refs, start=1):
        validation = Validation(ref, wanted, settings)
        progress.begin(label_of(ref), number)
        try:
            asyncio.run(_tried(validation, progress, as_json=as_json))
        except KeyboardInterrupt:
            status = INTERRUPTED
        except CallgateError as error:
            progress.end()
            status = status or status_of(error)
            show_error(error, as_json=as_json)
        finally:
            progress.end()
        run = validation.run()
        if validation.why_these_modes and run.trials:
            note(
                f"tools reached {label_of(ref)!r} only as callgate sends them by itself ({'/'.join(run.about.modes)}): "
                f"{validation.why_these_modes}; --modes native tries them as they are"
            )
        if run.trials:
            runs.append(run)
            if as_json:
                print_json(run.summary())
            if keep:
                _keep(settings, validation, run)
        if status == INTERRUPTED:
            break
    return runs, status


async def _tried(validation: Validation, progress: ProgressLine, *, as_json: bool) -> None:
    done = 0
    async with aclosing(validation.trials()) as trials:
        async for trial in trials:
            done += 1
            if as_json:
                print_json(trial.as_json())
            progress.step(trial, done, validation.total or done)


def _keep(settings: Settings, validation: Validation, run: Run) -> None:
    if validation.finding is None:
        return
    try:
        keep_run(settings, validation.ref, validation.finding.facts, run)
    except StorageError as error:
        note(f"what came of it isn't kept: {error.message}")


def unmet(runs: Sequence[Run], least: float | None) -> int:
    """Each mode has to come to it: an average would hide the one that fails."""
    if least is None:
        return DONE
    fall_short = False
    for run in runs:
        rates = pass_rates(run)
        for mode, rate in rates.items():
            if rate < least:
                fall_short = True
                note(f"{run.about.model} {mode}: {rate:.1%} passed, less than {least:.1%}")
        if not rates:
            fall_short = True
            note(f"{run.about.model}: nothing could be judged")
    return UNMET if fall_short or not runs else DONE
