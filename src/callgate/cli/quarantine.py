"""Models that were fetched and found wanting: which they are and why; let them go, or delete them.

A model gets here if its hash, its header or its engine said no, or if it failed `callgate pull --probe`. As long as it
is here it isn't listed, and isn't run by its name.
"""

from __future__ import annotations

import argparse

from callgate.cli import DONE
from callgate.cli.screen import Screen, in_bytes, print_json, printable
from callgate.runtime import Quarantine, Quarantined, timestamp
from callgate.settings import load_settings

EXAMPLES = """\
examples:
  callgate quarantine list
  callgate quarantine restore 3f2a          by the start of its ID, or its path
  callgate quarantine delete 3f2a 77b0      its files too

exit status: 0 done · 1 there is no such entry, or it failed · 2 wrong usage, or one that may not return
"""

_ACTIONS = {
    "list": "which models are here, and why",
    "restore": "let a model go: it is listed again, and can be run",
    "delete": "delete a model, with its files",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in _ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary)
        if name != "list":
            action.add_argument(
                "entries", nargs="+", metavar="ID", help="the start of an entry's ID, or a model's path"
            )
        action.add_argument("--json", action="store_true", help="one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    quarantine = Quarantine(load_settings())
    if arguments.action == "list":
        _list(quarantine.entries(), as_json=arguments.json)
        return DONE
    for entry in [quarantine.find(wanted) for wanted in arguments.entries]:
        if arguments.action == "restore":
            quarantine.restore(entry)
            _tell(entry, {"restored": True}, f"restored {entry.path}", as_json=arguments.json)
        else:
            freed = quarantine.delete(entry)
            said = f"deleted {entry.path}, {in_bytes(freed)} are free again"
            _tell(entry, {"deleted": True, "bytes_freed": freed}, said, as_json=arguments.json)
    return DONE


def _list(entries: list[Quarantined], *, as_json: bool) -> None:
    if as_json:
        for entry in entries:
            print_json(entry.as_json())
        return
    screen = Screen()
    if not entries:
        screen.line("nothing is in quarantine")
        return
    headings = [(heading, "dim") for heading in ("ID", "MODEL", "SIZE", "SINCE", "WHY")]
    rows = [
        [(entry.id, "strong"), (entry.repo, ""), (in_bytes(entry.size), ""), (timestamp(entry.at), "dim"), (why, "")]
        for entry in entries
        if (why := f"{entry.kind}: {entry.reason}")
    ]
    screen.table([headings, *rows])


def _tell(entry: Quarantined, more: dict[str, object], said: str, *, as_json: bool) -> None:
    if as_json:
        print_json({**entry.as_json(), **more})
    else:
        print(printable(said))
