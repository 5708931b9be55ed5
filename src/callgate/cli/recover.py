"""Finds the tool calls in an answer that came as text.

FILE has the answer, or one JSON object a line with --jsonl; without it, standard input does.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callgate.cli import DONE, FAILED
from callgate.cli.inputs import read_bytes, read_json
from callgate.cli.screen import Screen, print_json
from callgate.vocabulary import CallgateError, Tool, UsageError, repair_as_json

EXAMPLES = """\
examples:
  callgate recover answer.txt --tools tools.json      the calls of these tools, as JSON
  callgate recover --format hermes_json < answer.txt  in a format that is known
  callgate recover --chunk 7 answer.txt               as it would come in pieces of 7 characters
  callgate recover --jsonl answers.jsonl              {"id", "raw", "tools", "format", "starts_in"} a line
  callgate recover --list-formats                     every format, with an example

exit status: 0 done · 1 a line could not be read · 2 wrong usage
"""
LONGEST_CHUNK = 40
"""Of those that --chunk random:SEED makes."""
DEEPEST = 60
TYPES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
    "bool": "boolean", "dict": "object", "map": "object", "list": "array", "tuple": "array", "set": "array",
}  # fmt: skip
VALUES = ("default", "enum", "const", "examples")
"""What isn't a schema within a schema."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="the answer (default: standard input)")
    parser.add_argument("--tools", metavar="FILE", help="the offered tools; without it, every name counts as offered")
    parser.add_argument("--format", default="auto", metavar="NAME", help="the format of the calls (default: auto)")
    parser.add_argument("--list-formats", action="store_true", help="show every format, and stop")
    parser.add_argument("--json", action="store_true", help="the list as JSON, one object a line")
    parser.add_argument("--chunk", type=_chunk, metavar="N|random:SEED", help="feed the text in pieces")
    parser.add_argument("--no-repair", action="store_true", help="leave arguments as the model sent them")
    parser.add_argument("--jsonl", action="store_true", help="one answer a line, one result a line")
    parser.add_argument("--starts-in", choices=("text", "thinking"), default="text", help="where the answer begins")


def _chunk(text: str) -> int | str:
    if text.startswith("random:") and text[7:].strip():
        return text[7:]
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a number of characters nor random:SEED")


def run(arguments: argparse.Namespace) -> int:
    if arguments.list_formats:
        return _list_formats(as_json=arguments.json)
    if arguments.jsonl:
        return _lines(arguments)
    text = read_bytes(arguments.file or "-").decode("utf-8", "replace")
    print_json(_recovered(text, _tools_in(arguments.tools), arguments.format, arguments.starts_in, arguments))
    return DONE


def _lines(arguments: argparse.Namespace) -> int:
    import msgspec

    given = _tools_in(arguments.tools)
    status = DONE
    for number, line in enumerate(_lines_of(arguments.file), start=1):
        if not line.strip():
            continue
        name: object = None
        try:
            try:
                entry = msgspec.json.decode(line)
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                raise UsageError(f"line {number} is no JSON: {error}") from error
            if not isinstance(entry, dict):
                raise UsageError(f"line {number} is no JSON object")
            name = entry.get("id")
            print_json({"id": name, **_answered(entry, given, arguments)})
        except CallgateError as error:
            print_json(
                {"id": name, "error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}}
            )
            status = FAILED
    return status


def _answered(
    entry: Mapping[str, Any], given: Sequence[Tool] | None, arguments: argparse.Namespace
) -> dict[str, object]:
    raw, starts_in = entry.get("raw"), entry.get("starts_in") or arguments.starts_in
    if not isinstance(raw, str):
        raise UsageError("`raw` is no text")
    if starts_in not in ("text", "thinking"):
        raise UsageError(f"`starts_in` is {starts_in!r}, neither 'text' nor 'thinking'")
    wanted = entry.get("format") or arguments.format
    if not isinstance(wanted, str):
        raise UsageError("`format` is no name")
    if "tools" in entry:
        given = None if entry["tools"] is None else recorded_tools(entry["tools"])
    return _recovered(raw, given, wanted, starts_in, arguments)


def _recovered(
    text: str, tools: Sequence[Tool] | None, wanted: str, starts_in: Any, arguments: argparse.Namespace
) -> dict[str, object]:
    from callgate.gate import recover

    found = recover(
        _pieces(text, arguments.chunk),
        tools,
        format=wanted,
        starts_in=starts_in,
        repair=not arguments.no_repair,
    )
    return {
        "format": found.format,
        "content": found.content,
        "thinking": found.thinking,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in found.calls],
        "repairs": [repair_as_json(repair) for repair in found.repairs],
    }


def recorded_tools(entries: Any) -> Sequence[Tool]:
    """The tools of a recorded exchange. Nobody can mend them any more, and many name types that JSON Schema lacks."""
    from callgate.tools import read_tools

    try:
        return read_tools(entries)
    except UsageError:
        return read_tools(_with_known_types(entries))


def _with_known_types(value: Any, depth: int = 0) -> Any:
    if isinstance(value, list) and depth < DEEPEST:
        return [_with_known_types(item, depth + 1) for item in value]
    if not isinstance(value, dict) or depth >= DEEPEST:
        return value
    known = {key: item if key in VALUES else _with_known_types(item, depth + 1) for key, item in value.items()}
    kind = known.get("type")
    if isinstance(kind, str) and kind.lower() in TYPES:
        known["type"] = TYPES[kind.lower()]
    elif kind == "any":
        del known["type"]
    return known


def _pieces(text: str, size: int | str | None) -> Iterator[str]:
    if size is None:
        yield text
        return
    chance = random.Random(size) if isinstance(size, str) else None  # noqa: S311 – only where to cut
    at = 0
    while at < len(text):
        step = chance.randint(1, LONGEST_CHUNK) if chance else int(size)
        yield text[at : at + step]
        at += step


def _lines_of(path: str | None) -> Iterator[bytes]:
    if path in (None, "-"):
        yield from sys.stdin.buffer
        return
    try:
        with open(str(path), "rb") as lines:
            yield from lines
    except OSError as error:
        raise UsageError(f"{path!r} can't be read: {error.strerror}") from error


def _tools_in(path: str | None) -> Sequence[Tool] | None:
    from callgate.tools import read_tools

    return None if path is None else read_tools(read_json(path))


def _list_formats(*, as_json: bool) -> int:
    from callgate.gate import FORMATS

    if as_json:
        for known in FORMATS.values():
            print_json({"name": known.name, "families": known.families, "example": known.example})
        return DONE
    rows = [[("FORMAT", "dim"), ("EXAMPLE", "dim")]]
    rows += [[(known.name, "strong"), (known.example, "")] for known in FORMATS.values()]
    Screen().table(rows)
    return DONE
