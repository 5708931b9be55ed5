"""Every model in reach, side by side: what runs here, what the settings name, and the files in the usual folders.

It looks for Ollama (OLLAMA_HOST), llama-server (port 8080), LM Studio (1234) and vLLM (8000) on this machine, and for
GGUF files in `models.dir`, the Hugging Face cache, LM Studio's folder and Ollama's.

What you know better, you can say: `callgate models set`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from contextlib import closing

from callgate.cli import DONE, FAILED, UNREACHABLE
from callgate.cli.logs import log_reports
from callgate.cli.models_files import ACTIONS, add_file_actions, run_file_action
from callgate.cli.models_said import add_actions, run_action
from callgate.cli.models_view import ORDERS, show_models, sort_models
from callgate.cli.screen import Progress, Screen, in_bytes, print_json, printable
from callgate.runtime import StockedModel, best_of, discover, take_inventory
from callgate.settings import Settings, load_settings
from callgate.vocabulary import CallgateError, Unreachable

MOST_SHOWN = 5

EXAMPLES = """\
examples:
  callgate models                             all of them
  callgate models --tools --sort context      those that call tools, the longest context first
  callgate models --best --tools              one that calls tools: callgate ask "$(callgate models --best --tools)" …
  callgate models --json --endpoint http://lab:8080/v1
  callgate models --json | jq -r 'select(.mode == "native").ref'
  callgate models --refresh                   look first at what is new or has changed
  callgate models set qwen3:8b --tools yes --context 32768
  callgate models show qwen3:8b               what is kept of it and where, and the evidence
  callgate models forget qwen3:8b
  callgate models rm hf:OWNER/NAME            remove what `callgate pull` fetched
  callgate models import model.gguf           into Ollama
  callgate ask "file:$(callgate models path qwen3:8b)" "Hello!"     an Ollama's model, run by llama.cpp

exit status: 0 done · 1 --best found none, a server named with --endpoint gave no list, or nothing is kept of a model
             to forget · 2 wrong usage
             4 a server named with --endpoint could not be reached
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--sort", choices=ORDERS, metavar="BY", help=f"one of {', '.join(ORDERS)}")
    parser.add_argument("--reverse", action="store_true", help="the other way round")
    parser.add_argument("--tools", action="store_true", help="only models that call tools")
    parser.add_argument("--vision", action="store_true", help="only models that see pictures")
    parser.add_argument("--min-context", type=_count, default=0, metavar="N", help="only models with this much context")
    parser.add_argument("--refresh", action="store_true", help="look first at models that are new or have changed")
    parser.add_argument("--best", action="store_true", help="print just the name of the best one")
    parser.add_argument(
        "--endpoint", action="append", default=[], metavar="URL", help="only the models of this server (repeatable)"
    )
    add_file_actions(add_actions(parser))


def _count(text: str) -> int:
    number = int(text.replace("_", "").replace(",", ""))
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is less than nothing")
    return number


def run(arguments: argparse.Namespace) -> int:
    if arguments.action:
        return run_file_action(arguments) if arguments.action in ACTIONS else run_action(arguments)
    settings = load_settings()
    if arguments.refresh:
        _refresh(settings)
    found = discover(settings, arguments.endpoint)
    progress = Progress("looked at")
    models = []
    with closing(take_inventory(found.models, settings)) as looked_at:
        for model in looked_at:
            models.append(model)
            progress.step()
    progress.end()
    log_reports(model.report for model in models)
    _tell(_problems(found.problems, models))
    status = _status(found.problems) if arguments.endpoint else DONE
    wanted = {"tools": arguments.tools, "vision": arguments.vision, "min_context": arguments.min_context}
    if arguments.best:
        best = best_of(models, **wanted)
        if best is None:
            _tell(["no model in reach can do all that"])
            return status or FAILED
        models = [best]
    elif any(wanted.values()):
        models = [model for model in models if model.suits(**wanted)]
    elif not arguments.endpoint:
        _tell(_unfinished(settings))
    _show(sort_models(models, arguments.sort, reverse=arguments.reverse), arguments)
    return status


def _refresh(settings: Settings) -> None:
    """What the programs that stay open do when they start, aloud."""
    import asyncio

    from callgate.runtime import refresh_models

    progress = Progress("refreshed")
    done = asyncio.run(refresh_models(settings, on_step=lambda _: progress.step()))
    progress.end()
    said = f"{len(done.looked_at):,} of {len(done.models):,} models looked at again, {done.unchanged:,} as they were"
    if done.failed:
        said += f", {len(done.failed):,} couldn't be looked at"
    if done.absent:
        said += f"; absent today, but kept: {', '.join(done.absent[:MOST_SHOWN])}"
        said += " …" if len(done.absent) > MOST_SHOWN else ""
    _tell([f"{said} ({done.seconds:.2f} s)"])


def _show(models: list[StockedModel], arguments: argparse.Namespace) -> None:
    if arguments.json:
        for model in models:
            print_json(model.as_json())
    elif arguments.best:
        print(printable(str(models[0].found.ref)))
    else:
        show_models(Screen(), models)


def _problems(problems: Iterable[CallgateError], models: Iterable[StockedModel]) -> Iterable[str]:
    """What went wrong, each thing once."""
    of_models = (_named(model.report.error, model.found.name) for model in models if model.report.error)
    return dict.fromkeys((*(problem.message for problem in problems), *of_models))


def _unfinished(settings: Settings) -> Iterable[str]:
    """Of downloads: how many, and how to go on."""
    from callgate.hub import STALE_DAYS, leftovers

    if found := leftovers(settings):
        repos = list(dict.fromkeys(each.repo for each in found if each.repo))
        of_what = [
            *repos[:MOST_SHOWN],
            *(["…"] if len(repos) > MOST_SHOWN else []),
            in_bytes(sum(f.size for f in found)),
        ]
        yield (
            f"{len(found):,} unfinished download{'s' if len(found) > 1 else ''} ({', '.join(of_what)}): the same "
            f"`callgate pull` goes on, and what rests for {STALE_DAYS} days is removed by the next"
        )


def _named(problem: CallgateError, name: str) -> str:
    return (
        problem.message if name in problem.message or isinstance(problem, Unreachable) else f"{name}: {problem.message}"
    )


def _tell(messages: Iterable[str]) -> None:
    screen = Screen(sys.stderr)
    for message in messages:
        screen.line(screen.styled("note: ", "doubt") + printable(message))


def _status(problems: tuple[CallgateError, ...]) -> int:
    if any(isinstance(problem, Unreachable) for problem in problems):
        return UNREACHABLE
    return FAILED if problems else DONE
