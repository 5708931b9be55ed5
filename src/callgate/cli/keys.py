"""Keys that every callgate knows that shares the same Redis: made here, shown once, taken back at once.

Only their hashes are kept. A key that is given to `callgate serve` with --api-key is known to that server alone.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from callgate.cli import DONE
from callgate.cli.screen import Screen, print_json, printable
from callgate.gateway import KeyRing
from callgate.runtime import timestamp
from callgate.settings import Settings, load_settings
from callgate.vocabulary import UsageError

EXAMPLES = """\
examples:
  callgate keys add alice                           prints the new key, once
  callgate keys list
  callgate keys remove alice                        no server takes it any more, within a second
  CALLGATE_REDIS=redis://:secret@cache:6379/0 callgate keys add ci --json

exit status: 0 done · 1 there is no such key, or the list is broken · 2 wrong usage · 4 Redis can't be reached
"""

_ACTIONS = {
    "add": "make a key, and print it",
    "list": "whose keys there are, and since when",
    "remove": "take a key back",
}
T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in _ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary)
        if name != "list":
            action.add_argument("name", metavar="NAME", help="whose it is")
        action.add_argument("--redis", metavar="URL", help="where the servers share it; or CALLGATE_REDIS")
        action.add_argument("--json", action="store_true", help="one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings({"serve.redis": arguments.redis} if arguments.redis else None)
    match arguments.action:
        case "add":
            key = _asked(settings, lambda ring: ring.add(arguments.name))
            print_json({"name": arguments.name, "key": key}) if arguments.json else print(key)
        case "remove":
            _asked(settings, lambda ring: ring.remove(arguments.name))
            removed = {"name": arguments.name, "removed": True}
            print_json(removed) if arguments.json else print(printable(f"removed {arguments.name}"))
        case _:
            _list(settings, as_json=arguments.json)
    return DONE


def _list(settings: Settings, *, as_json: bool) -> None:
    keys = _asked(settings, lambda ring: ring.keys())
    if as_json:
        for name, key in sorted(keys.items()):
            print_json({"name": name, "made_at": timestamp(key.made_at)})
        return
    screen = Screen()
    if not keys:
        screen.line("there are no keys: `callgate keys add NAME` makes one")
        return
    rows = [[(name, "strong"), (timestamp(key.made_at), "dim")] for name, key in sorted(keys.items())]
    screen.table([[("NAME", "dim"), ("MADE", "dim")], *rows])


def _asked(settings: Settings, ask: Callable[[KeyRing], Awaitable[T]]) -> T:
    """Raises: UsageError, Unreachable, NotFound."""
    url = settings.serve.redis
    if url is None:
        raise UsageError(
            "keys are shared through a Redis, and none is named",
            hint="--redis URL, CALLGATE_REDIS or `callgate config set serve.redis`; one server alone takes --api-key",
        )

    async def work() -> T:
        ring = await KeyRing.at(url)
        try:
            return await ask(ring)
        finally:
            await ring.close()

    return asyncio.run(work())
