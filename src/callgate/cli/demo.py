"""A tour of a minute: a small model in the real engine calls real tools, and you see what the gate does.

The model came with callgate, llama.cpp runs it on this machine, and no network is needed. Nothing is kept. On a
terminal you may talk to it afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import msgspec

from callgate.cli import DONE, FAILED, INTERRUPTED
from callgate.settings import Settings, load_settings
from callgate.vocabulary import UsageError

EXAMPLES = """\
examples:
  callgate demo                       the tour, then a prompt
  callgate demo --no-input            the tour alone
  callgate demo --no-input --json     one object a line for each step: mode, reason, calls, results
  callgate demo --json | jq -c '[.step, .mode, .calls[].result]'

It needs the engine: pip install 'callgate[llamacpp]'

exit status: 0 each call really ran, and its result is the answer · 1 one didn't · 2 the engine isn't installed
             130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-input", action="store_true", help="ask nothing at the end")
    parser.add_argument("--json", action="store_true", help="one JSON object a line for each step, and no prompt")


def run(arguments: argparse.Namespace) -> int:
    with TemporaryDirectory(prefix="callgate-demo-") as home:
        folder = os.path.join(home, "files")
        os.mkdir(folder)
        settings = settings_for_a_demo(home)
        try:
            status = asyncio.run(_tour(settings, folder, as_json=arguments.json))
            if not (arguments.no_input or arguments.json) and _is_somebody_there():
                _let_try(settings, folder)
        except KeyboardInterrupt:
            return INTERRUPTED
    return status


def settings_for_a_demo(home: str) -> Settings:
    """Those of a fresh machine, whatever was set on this one; but the engine is run as the user wants it run.

    Raises: UsageError, if there is no engine.
    """
    engine = load_settings().llamacpp
    if engine.server is None and find_spec("xllamacpp") is None:
        raise UsageError(
            "the demo needs llama.cpp, which isn't installed", hint="pip install 'callgate[llamacpp]', and run it again"
        )
    fresh = load_settings({"detect.refresh": "off"}, environ={"CALLGATE_HOME": home})
    return msgspec.structs.replace(fresh, llamacpp=msgspec.structs.replace(engine, context=0, projector=None))


async def _tour(settings: Settings, folder: str, *, as_json: bool) -> int:
    from callgate.cli.demo_steps import STEPS, Tour
    from callgate.cli.demo_view import JsonDemoView, TextDemoView
    from callgate.runtime import Session

    view = JsonDemoView() if as_json else TextDemoView()
    started, failed = time.monotonic(), 0
    view.begin()
    async with Session(settings) as session:
        tour = Tour(session, folder)
        for step in STEPS:
            view.announce(step)
            try:
                taken = await tour.take(step)
            finally:
                view.hear()
            view.show(taken)
            failed += taken.problem is not None
    view.end(failed=failed, seconds=time.monotonic() - started)
    return FAILED if failed else DONE


def _is_somebody_there() -> bool:
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty())


def _let_try(settings: Settings, folder: str) -> None:
    from callgate.chat import ChatOptions, run_in_lines, run_in_terminal
    from callgate.cli.chat import described
    from callgate.cli.installation import as_installed

    options = ChatOptions(model="tiny", folder=folder, plain=True)
    print("\nNow you: ask it what 12 * 34 is, or to read the file welcome.txt; /model tiny-plain swaps the model.")
    if find_spec("prompt_toolkit") and find_spec("rich") and os.environ.get("TERM") != "dumb":
        run_in_terminal(lambda: (msgspec.structs.replace(options, plain=False), settings, described))
        return
    print(as_installed("Ctrl-D ends it. (pip install 'callgate[chat]' makes this a better place to talk.)"))
    with suppress(EOFError):
        run_in_lines(options, settings, described)
