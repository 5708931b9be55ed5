"""Fetches a model from the Hugging Face hub, if it can call tools: known before gigabytes move, verified after.

MODEL is OWNER/NAME, with /FILE.gguf, :QUANT or @REVISION behind it where wanted, or the URL of its page. Of several
quantisations Q4_K_M is taken, or what comes nearest. A download that was interrupted goes on where it was; one that
nobody has gone on with for 30 days is removed by the next pull.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys

from callgate.cli import DONE, FAILED, status_of
from callgate.cli.logs import log_verdict
from callgate.cli.pull_view import PullView, as_json, show_files
from callgate.cli.screen import Screen, in_bytes, print_json, show_error
from callgate.hub import STALE_DAYS, Pulled, Wishes, list_repository, pull, read_hub_name, remove_stale
from callgate.settings import Settings, load_settings
from callgate.vocabulary import CallgateError

EXAMPLES = """\
examples:
  callgate pull Qwen/Qwen3-4B-GGUF                 the quantisation that most people take
  callgate pull Qwen/Qwen3-4B-GGUF:Q8_0            … or another
  callgate pull --list Qwen/Qwen3-4B-GGUF          which there are, and whether they fit
  callgate pull --dry-run Qwen/Qwen3-4B-GGUF       look at it, and fetch nothing
  callgate pull --probe Qwen/Qwen3-4B-GGUF         … and make it call a tool, once it is here
  callgate ask hf:Qwen/Qwen3-4B-GGUF "Hello!"      then ask it

exit status: 0 done · 1 it failed, or the hub refused · 2 wrong usage, or a choice nobody made
             3 the model can't call tools, or failed the probe · 4 the hub could not be reached · 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="+", metavar="MODEL", help="OWNER/NAME[/FILE.gguf][:QUANT][@REVISION] or a URL")
    parser.add_argument("--list", action="store_true", help="show the models of the repository, and fetch nothing")
    parser.add_argument("--dry-run", action="store_true", help="look at the model's header, and fetch nothing")
    parser.add_argument("--allow-no-tools", action="store_true", help="fetch it even if it can't call tools")
    parser.add_argument("--probe", action="store_true", help="make it call a test tool, once it is here")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    # What the hub's library has to say is in the errors; servers may put anything in its warnings.
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # else it asks the hub for more than we do
    statuses = [_run_one(text, settings, arguments) for text in arguments.models]
    if not arguments.list and not arguments.dry_run:
        _sweep(settings)
    failed = [status for status in statuses if status != DONE]
    return failed[0] if len(set(failed)) == 1 else FAILED if failed else DONE


def _run_one(text: str, settings: Settings, arguments: argparse.Namespace) -> int:
    view = PullView(quiet=arguments.json)
    try:
        ref = read_hub_name(text, settings.hub.endpoint)
        if arguments.list:
            repository = asyncio.run(list_repository(ref, settings))
            show_files(Screen(), repository, as_lines=arguments.json)
            return DONE
        wishes = Wishes(allow_no_tools=arguments.allow_no_tools, dry_run=arguments.dry_run, probe=arguments.probe)
        pulled = asyncio.run(pull(ref, settings, wishes, view))
    except KeyboardInterrupt:
        view.end()
        if not arguments.list and not arguments.dry_run:
            print("interrupted: the same command goes on where this stopped", file=sys.stderr)
        raise
    except CallgateError as error:
        view.end()
        show_error(error, as_json=arguments.json)
        return status_of(error)
    view.end()
    log_verdict(text, pulled.verdict, next((found for found in pulled.looked.evidence if found.claim == "tools"), None))
    _show(pulled, view, as_json_line=arguments.json)
    return DONE


def _sweep(settings: Settings) -> None:
    """Last, so that nothing goes that was to be gone on with."""
    if gone := remove_stale(settings):
        what = "a download" if len(gone) == 1 else f"{len(gone):,} downloads"
        freed = in_bytes(sum(each.size for each in gone))
        print(f"note: {what} that nobody had gone on with for {STALE_DAYS} days went: {freed}", file=sys.stderr)


def _show(pulled: Pulled, view: PullView, *, as_json_line: bool) -> None:
    if as_json_line:
        print_json(as_json(pulled))
    else:
        view.done(pulled)
