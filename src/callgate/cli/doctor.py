"""What is here, what is wrong, and what to do about it.

It looks at callgate itself, its extras and its engine, at servers for models on this machine and those that you named,
at folders, settings and what is kept. Nothing is changed, nothing is sent anywhere else, and keys aren't shown.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

import msgspec

from callgate.cli import DONE, UNMET
from callgate.cli.doctor_checks import (
    Checked,
    choices,
    engine,
    extras,
    paths,
    registry,
    server,
    this_program,
)
from callgate.cli.doctor_named import redis, why_no_default_model
from callgate.cli.installation import as_installed
from callgate.cli.screen import LiveLine, Screen, print_json, printable
from callgate.settings import Settings, load_settings
from callgate.vocabulary import CallgateError, UsageError

EXAMPLES = """\
examples:
  callgate doctor
  callgate doctor --json | jq 'select(.state == "wrong")'
  callgate doctor > report.txt          for a bug report: there are no secrets in it

Each line of --json has section, name, state (ok, absent: it need not be there, or wrong), detail and next.
A server has 2 seconds to answer, and all are asked at once.

exit status: 0 nothing is wrong · 2 wrong usage · 3 something is wrong, and a line says what to do
"""

_MARKS = {"ok": ("✓", "good"), "absent": ("·", "dim"), "wrong": ("✗", "bad")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line for each thing that was looked at")


def run(arguments: argparse.Namespace) -> int:
    waiting = LiveLine(hidden=arguments.json)
    waiting.show("looking at servers and the engine …")
    checked = look()
    waiting.end()
    wrong = [each for each in checked if each.state == "wrong"]
    if arguments.json:
        for each in checked:
            print_json({"section": each.section, "next": None, **msgspec.to_builtins(each)})
    else:
        _show(checked, wrong)
    return UNMET if wrong else DONE


def look() -> list[Checked]:
    """At everything; a setting that is no good is told, and the others count."""
    checked = [*this_program(), *extras()]
    settings = load_settings(mistaken=lambda mistake: checked.append(_unread(mistake)))
    reached, problems = asyncio.run(_reached(settings))
    if not any(each.state == "ok" for each in reached if each.name != "Redis"):
        reached.append(_nobody(settings))
    everything = [*checked, *reached, *paths(settings), *_chosen(settings, problems), registry(settings)]
    return [msgspec.structs.replace(each, next=each.next and as_installed(each.next)) for each in everything]


def _unread(error: CallgateError) -> Checked:
    hint = error.hint or "`callgate config` lists the settings"
    return Checked(section="settings", name="settings", state="wrong", detail=error.message, next=hint)


def _chosen(settings: Settings, problems: Mapping[str, str]) -> Iterator[Checked]:
    try:
        yield from choices(settings, problems)
    except UsageError as error:
        yield _unread(error)


async def _reached(settings: Settings) -> tuple[list[Checked], Mapping[str, str]]:
    """What could run a model: the engine and servers, all looked at at once; and what is wrong with settings that name
    something."""
    from callgate.runtime import look_at_servers

    starting = asyncio.create_task(asyncio.to_thread(engine, settings))
    shared, defaulting = asyncio.create_task(redis(settings)), asyncio.create_task(why_no_default_model(settings))
    try:
        servers = [server(seen) for seen in await look_at_servers(settings)]
    except UsageError as error:
        servers = [_unread(error)]
    reached = [await starting, *servers, *([found] if (found := await shared) else [])]
    problem = await defaulting
    return reached, {"models.default": problem} if problem else {}


def _nobody(settings: Settings) -> Checked:
    get_engine = "pip install 'callgate[llamacpp]', then `callgate demo`"
    if settings.llamacpp.server is not None or find_spec("xllamacpp"):
        get_engine = "mend the engine, as is said above"
    return Checked(
        section="engines",
        name="models",
        state="wrong",
        detail="nothing here can run a model: no engine starts, and no server answers",
        next=f"{get_engine}; or start an Ollama",
    )


def _show(checked: list[Checked], wrong: list[Checked]) -> None:
    screen = Screen()
    section = ""
    width = max(len(each.name) for each in checked) + 2
    for each in sorted(checked, key=lambda one: _order(one.section)):
        if each.section != section:
            screen.line(("" if not section else "\n") + screen.styled(each.section, "strong"))
            section = each.section
        mark, style = _MARKS[each.state]
        version = f"{each.version} · " if each.version and each.section == "callgate" else ""
        text = printable(f"{each.name:<{width}}{version}{each.detail}")
        screen.line(f"  {screen.styled(mark, style)} {screen.styled(text, style if each.state != 'ok' else '')}")
        if each.next and each.state == "absent":
            screen.line(f"    {' ' * width}{screen.styled(printable(each.next), 'dim')}")
    screen.line()
    if not wrong:
        screen.line(screen.styled("nothing is wrong", "good"))
        return
    screen.line(screen.styled(f"wrong: {len(wrong)}", "bad"))
    for each in wrong:
        screen.line(printable(f"  {each.name}: {each.detail}"))
        if each.next:
            screen.line(f"    → {printable(each.next)}")


def _order(section: str) -> int:
    return ("callgate", "extras", "engines", "servers", "paths", "settings", "registry").index(section)
