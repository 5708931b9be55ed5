"""Every model in reach, side by side: what is said of it, what it really does, and how often that agrees.

Each gets a few real turns, with tools as they are and emulated. Models of one backend are tried one after the other,
backends at once. What was done is kept: a survey that was stopped goes on where it was, and models that haven't changed
aren't tried again.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from callgate.cli import DONE, FAILED, INTERRUPTED, UNREACHABLE
from callgate.cli.screen import LiveLine, print_json
from callgate.cli.survey_view import show_progress, show_surveys
from callgate.cli.validate_arguments import add_report_arguments, count, modes_named, require_writable, write_reports
from callgate.runtime import discover, may_cost
from callgate.settings import Settings, load_settings
from callgate.validate import Surveyed, SurveyOfAll, SurveyState, label_of, survey_as_json, survey_wanted
from callgate.vocabulary import ModelRef, UsageError

EXAMPLES = """\
examples:
  callgate survey --all                        every model in reach, but for those that may cost money
  callgate survey tiny qwen3:8b model.gguf     just these
  callgate survey --all --html survey.html     a page to look at
  callgate survey --all --json > survey.jsonl  trials, summaries, and one object of type `survey` for each model
  callgate survey --all --fresh                all of it anew
  callgate survey tiny --why                   each kind of failure, with one raw exchange

exit status: 0 done · 1 a model failed (the line says why; the rest is still done) · 2 wrong usage
             4 a server could not be reached · 130 interrupted; what was done is shown
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="*", metavar="MODEL", help="models, as `callgate check` takes them")
    parser.add_argument("--all", action="store_true", help="every model in reach")
    parser.add_argument("--trials", type=count, default=2, metavar="N", help="trials of each case (2)")
    parser.add_argument(
        "--modes", type=modes_named, default=("native", "emulated"), metavar="MODES", help="native,emulated; or `all`"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="chooses wordings and values (0)")
    parser.add_argument("--jobs", type=count, metavar="N", help="so many backends at once (all of them)")
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="try these models again from the start, whatever an earlier survey has done",
    )
    parser.add_argument("--why", action="store_true", help="show each kind of failure, with one raw exchange")
    add_report_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    refs = _refs(arguments, settings)
    require_writable(arguments)
    state = SurveyState.of(settings, fresh=arguments.fresh)
    live = LiveLine()
    survey = SurveyOfAll(
        refs,
        survey_wanted(arguments.trials, arguments.modes, arguments.seed),
        settings,
        state=state,
        jobs=arguments.jobs,
        on_step=lambda progress: show_progress(live, progress),
    )
    done: list[Surveyed] = []
    status = DONE
    try:
        asyncio.run(_collect(survey, done, as_json=arguments.json))
    except KeyboardInterrupt:
        status = INTERRUPTED
        for surveyed in survey.broken_off():
            _add(surveyed, done, as_json=arguments.json)
    finally:
        live.end()
    order = {label_of(ref): place for place, ref in enumerate(refs)}
    done.sort(key=lambda each: order.get(each.survey.model, 0))
    surveys, runs = [each.survey for each in done], [each.run for each in done]
    if arguments.json:
        print_json({"type": "survey_summary", **survey_as_json(surveys)})
    else:
        show_surveys(surveys, why=arguments.why)
    write_reports(arguments, runs, survey=survey_as_json(surveys))
    return status or _status(done)


async def _collect(survey: SurveyOfAll, done: list[Surveyed], *, as_json: bool) -> None:
    async with aclosing(survey.results()) as results:
        async for surveyed in results:
            _add(surveyed, done, as_json=as_json)


def _add(surveyed: Surveyed, done: list[Surveyed], *, as_json: bool) -> None:
    done.append(surveyed)
    if as_json:
        for line in surveyed.lines():
            print_json(line)


def _refs(arguments: argparse.Namespace, settings: Settings) -> list[ModelRef]:
    named = [ModelRef.parse(model) for model in arguments.models]
    if not (named or arguments.all):
        raise UsageError("no model is named", hint="callgate survey --all, or callgate survey tiny qwen3:8b")
    found: Sequence[ModelRef] = ()
    if arguments.all:
        found = [model.ref for model in discover(settings).models if not may_cost(model.ref, settings)]
    return list(dict.fromkeys((*named, *found)))


def _status(done: Sequence[Surveyed]) -> int:
    errors = [each.survey.error["type"] for each in done if each.survey.error]
    if any(error != "Unreachable" for error in errors):
        return FAILED
    return UNREACHABLE if errors else DONE
