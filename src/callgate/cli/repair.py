"""Makes the arguments of a tool call fit their schema, where they can only mean one thing.

FILE has the arguments, as a model sent them; without it, standard input does. Printed are the arguments, each change,
and what is still wrong: {"arguments", "repairs": [{"path", "from", "to", "rule"}], "errors"}.
"""

from __future__ import annotations

import argparse

from callgate.cli import DONE, UNMET
from callgate.cli.inputs import read_bytes, read_json
from callgate.cli.screen import print_json
from callgate.tools import repair
from callgate.vocabulary import UsageError

EXAMPLES = """\
examples:
  callgate repair --schema schema.json arguments.json
  echo '{"city": "Paris", "days": "5"}' | callgate repair --schema schema.json   "5" becomes 5
  echo "{'city': 'Paris',}" | callgate repair --schema schema.json               so does Python become JSON

exit status: 0 they fit · 2 wrong usage, or the schema is none · 3 they still don't fit
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="the arguments (default: standard input)")
    parser.add_argument("--schema", required=True, metavar="FILE", help="the JSON Schema of the tool's parameters")
    parser.add_argument("--json", action="store_true", help="print an error as JSON too; all else is JSON anyway")


def run(arguments: argparse.Namespace) -> int:
    if arguments.schema == arguments.file == "-":
        raise UsageError("standard input can't be both the schema and the arguments")
    schema = read_json(arguments.schema)
    if not isinstance(schema, dict | bool):
        raise UsageError(f"{arguments.schema!r} is no JSON Schema: it is neither an object nor true or false")
    given = read_bytes(arguments.file).decode("utf-8", "replace")
    try:
        outcome = repair(given, schema)
    except UsageError as error:
        raise UsageError(f"{arguments.schema!r}: {error.message}", hint=error.hint) from None
    print_json(
        {
            "arguments": outcome.arguments,
            "repairs": [
                {"path": change.path, "from": change.before, "to": change.after, "rule": change.rule}
                for change in outcome.repairs
            ],
            "errors": outcome.errors,
        }
    )
    return UNMET if outcome.errors else DONE
