"""What can this model really do, and how do we know?

TARGET is a model (`qwen3:8b`, `http://host:8080/v1#NAME`, `hf:OWNER/NAME`, `tiny`), a GGUF file or its URL, a chat
template (.jinja), a tokenizer_config.json, a folder of these, or - for a template on standard input.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial

from callgate.cli import DONE, FAILED, UNMET, UNREACHABLE
from callgate.cli.check_view import show_evidence, show_table
from callgate.cli.logs import log_reports
from callgate.cli.screen import Progress, Screen, print_json, printable
from callgate.runtime import ModelReport, check_targets
from callgate.settings import Settings, load_settings
from callgate.vocabulary import Answer, Capabilities, Evidence, ModelRef, Unreachable

EXAMPLES = """\
examples:
  callgate check qwen3:8b                     a model of the local Ollama
  callgate check --why model.gguf             a file, with each piece of evidence
  callgate check --json templates/            every template in a folder, one JSON object a line
  callgate check --require tools,vision tiny  exit status 3 unless it can do both
  callgate check --probe qwen3:8b             load it, and see whether it really calls a tool

exit status: 0 done · 1 a target could not be read, or its server talks nonsense · 2 wrong usage
             3 a requirement was not met · 4 a server could not be reached, and what is shown is a guess
"""

REQUIREMENTS: Mapping[str, Callable[[Capabilities], Answer]] = {
    "tools": lambda known: known.tools,
    "parallel": lambda known: Answer.of(known.supports_parallel_tool_calls),
    "system": lambda known: Answer.of(known.supports_system_role),
    "thinking": lambda known: Answer.of(known.supports_thinking),
    "vision": lambda known: Answer.of(known.supports_vision),
    "audio": lambda known: Answer.of(known.supports_audio),
    "embedding": lambda known: Answer.of(known.is_embedding),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="a model, a file or a folder, as told above")
    parser.add_argument("--why", action="store_true", help="show each piece of evidence, the strongest first")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--probe", action="store_true", help="load the model, and see whether it calls a test tool")
    parser.add_argument(
        "--require",
        type=_requirements,
        default=(),
        metavar="WHAT",
        help=f"exit with 3 unless every target can do this: {', '.join(REQUIREMENTS)} (several with commas)",
    )


def _requirements(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("nothing is required")
    for name in names:
        if name not in REQUIREMENTS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(REQUIREMENTS)}")
    return names


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    given = sys.stdin.buffer if sys.stdin else io.BytesIO()
    probe = partial(_probe, settings=settings) if arguments.probe else None
    with closing(check_targets(arguments.targets, settings=settings, standard_input=given, probe=probe)) as found:
        reports = _print_json(found) if arguments.json else _show(found, why=arguments.why)
    log_reports(reports)
    return _status(reports, arguments.require)


def _probe(ref: ModelRef, settings: Settings) -> list[Evidence]:
    import asyncio

    from callgate.cli.answer_view import TextView
    from callgate.runtime import Session, probe_live

    view = TextView()

    async def probe() -> list[Evidence]:
        async with Session(settings, on_loading=view.loading) as session:
            try:
                return await probe_live(session, ref, patience=settings.detect.probe_timeout)
            finally:
                view.done_loading()

    return asyncio.run(probe())


def _print_json(found: Iterator[ModelReport]) -> list[ModelReport]:
    reports = []
    for report in found:
        reports.append(report)
        print_json(report.as_json())
    return reports


def _show(found: Iterator[ModelReport], *, why: bool) -> list[ModelReport]:
    screen, progress = Screen(), Progress("checked")
    reports: list[ModelReport] = []
    try:
        for report in found:
            reports.append(report)
            progress.step()
    finally:  # also what was found until Ctrl-C
        progress.end()
        if reports:
            show_table(screen, reports)
    if why:
        for report in reports:
            show_evidence(screen, report)
    return reports


def _status(reports: list[ModelReport], required: tuple[str, ...]) -> int:
    if any(report.error and not isinstance(report.error, Unreachable) for report in reports):
        return FAILED
    unmet = [(report, lacking) for report in reports if (lacking := _lacking(report.capabilities, required))]
    for report, lacking in unmet:
        print(printable(f"{report.target}: {_in_words(lacking, report.capabilities)}"), file=sys.stderr)
    if unmet:
        return UNMET
    return UNREACHABLE if any(report.error for report in reports) else DONE


def _lacking(known: Capabilities | None, required: tuple[str, ...]) -> Mapping[str, Answer]:
    """What is required and isn't there for sure; a guess is sure of nothing."""
    if known is None or known.guess:
        return dict.fromkeys(required, Answer.UNKNOWN)
    answers = {name: REQUIREMENTS[name](known) for name in required}
    return {name: answer for name, answer in answers.items() if answer is not Answer.YES}


def _in_words(lacking: Mapping[str, Answer], known: Capabilities | None) -> str:
    without = [f"no {name}" for name, answer in lacking.items() if answer is Answer.NO]
    unknown = [name for name, answer in lacking.items() if answer is Answer.UNKNOWN]
    said = [f"has {' and '.join(without)}"] if without else []
    if unknown:
        said.append(f"isn't known to have {' and '.join(unknown)}")
    why = ", for this is a guess" if known and known.guess else ""
    return f"it {', and '.join(said)}{why}"
