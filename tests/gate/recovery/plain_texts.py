"""Texts without a call in them, out of what every machine with Python has: code, docs, READMEs, and JSON of them."""

from __future__ import annotations

import ast
import json
import random
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

from callgate.vocabulary import Tool

EVERYDAY = (
    *("get_weather", "search", "read", "open", "add", "calculator", "write", "print", "list", "get", "set", "run"),
    *("call", "find", "update", "delete", "create", "send", "copy", "exec", "format", "join", "split", "sum", "name"),
    *("type", "test", "parse", "load", "save", "python", "bash", "echo", "ls", "cat", "main", "help", "time", "fetch"),
)
"""Names that tools have, and functions, commands and plain words too."""


PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    **{name: {"path": "notes.txt"} for name in ("read", "open", "list", "load", "delete", "ls", "cat", "create")},
    **{name: {"command": "make"} for name in ("run", "exec", "bash", "python", "call", "test", "echo", "main")},
    **{name: {"query": "cats"} for name in ("search", "find", "get", "fetch", "help")},
    **{name: {"a": 1, "b": 2} for name in ("add", "sum", "calculator")},
    **{name: {"path": "notes.txt", "text": "Hello"} for name in ("write", "save", "update", "set", "copy")},
    "get_weather": {"city": "Paris"},
}
"""What a call of each sets; the rest take a text."""


def everyday_tools() -> list[Tool]:
    return [Tool(name, parameters=_schema(_arguments(name))) for name in EVERYDAY]


def _arguments(name: str) -> dict[str, Any]:
    return dict(PARAMETERS[name]) if name in PARAMETERS else {"text": "Hello"}


def _schema(arguments: Mapping[str, object]) -> dict[str, Any]:
    properties = {key: {"type": "integer" if isinstance(value, int) else "string"} for key, value in arguments.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def plain_texts(count: int, seed: int = 1) -> Iterator[str]:
    """The first `count` of an endless row, a different one for each seed."""
    return islice(_endless(random.Random(seed)), count)


def _endless(chance: random.Random) -> Iterator[str]:
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in folder.glob("*.py")) + sorted(folder.glob("*/*.py"))
    readmes = [text for found in metadata.distributions() if (text := found.read_text("METADATA"))]
    while True:
        source = _read(chance.choice(files))
        kind = chance.randrange(7)
        if kind == 0:
            yield _excerpt(source, chance)
        elif kind == 1:
            yield chance.choice(_docstrings(source) or [source[:500]])
        elif kind == 2:
            yield f"Here is an example:\n```python\n{_excerpt(source, chance)}\n```\nIt does what it says."
        elif kind == 3:
            yield json.dumps(_record(source, chance), indent=chance.choice((None, 2)))
        elif kind == 4:
            yield _excerpt(chance.choice(readmes), chance)
        elif kind == 5:
            yield _about_tools(chance)
        else:
            yield _lone_call(source, chance)


@cache
def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _excerpt(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    start = chance.randrange(len(lines) or 1)
    return "".join(lines[start : start + chance.randint(1, 40)])


@cache
def _docstrings(source: str) -> list[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [text for node in ast.walk(tree) if isinstance(node, kinds) and (text := ast.get_docstring(node))]


def _record(source: str, chance: random.Random) -> object:
    """JSON as configurations, schemas and API answers have it, tools' names among the rest."""
    words: list[str] = re.findall(r"\w+", source[:4000]) or ["word"]

    def word() -> str:
        return chance.choice(words)

    name = chance.choice(EVERYDAY)
    shapes: list[object] = [
        {"name": name, "version": "1.0", "dependencies": {word(): "^1.2"}},
        {
            "name": name,
            "description": word(),
            "parameters": {"type": "object", "properties": {word(): {"type": "string"}}},
        },
        {"type": "function", "function": {"name": name, "description": word(), "parameters": {"type": "object"}}},
        [{"name": name, "value": word()}, {"name": word(), "value": 3}],
        {"tools": [{"name": name, "inputSchema": {"type": "object", "properties": {}}}]},
        {"function": name, "line": chance.randrange(900), "file": word()},
        {"users": [{"id": n, "name": word(), "args": [word()]} for n in range(3)]},
        {"name": name},
        {"arguments": {word(): word()}},
        [word(), word(), name],
        {"examples": [{"name": name, "arguments": {word(): word()}}]},
        {"scripts": {name: f"{word()} --{word()}"}},
    ]
    return chance.choice(shapes)


def _about_tools(chance: random.Random) -> str:
    name, other = chance.choice(EVERYDAY), chance.choice(EVERYDAY)
    call = json.dumps({"name": name, chance.choice(("arguments", "args", "parameters")): _arguments(name)})
    code, more = _code(name), _code(other)
    return chance.choice(
        (
            f"To use {name}, the model answers with `{call}` and nothing else.",
            f"The format is:\n\n```json\n{call}\n```\n\nwhere name is the tool's.",
            f"The format is:\n```\n<tool_call>\n{call}\n</tool_call>\n```\n",
            f"Write `<tool_call>{call}</tool_call>` for that.",
            f"You can call {name}(city='Paris') in Python, or use [{name}](https://example.org/{name}).",
            f"I would call {name} now, but {name}() needs a city.",
            "Tags such as `<tool_call>` and `[TOOL_CALLS]` mark a call.",
            f"result = [{name}(x=1), {name}(x=2)]\nprint(result)",
            f"{name}: the tool's name\narguments: an object",
            f"x = {call}\nprint(x)",
            f"The format of a call is:\n\n{call}\n\nwhere name is the function.",
            f"config:\n{call}\nThat is all.",
            f"{call} is what I would send.",
            f"{call}\n{call}\nare two lines of the log.",
            f'Log:\n{call}\n{{"level": "info"}}\n{call}\n',
            f"Indented:\n\n    {call}\n",
            f"> {call}\n",
            f"> <tool_call>{call}</tool_call>\n",
            f"~~~\n<tool_call>{call}</tool_call>\n~~~\n",
            f"See [{code}] for more",
            f"Options: [{code}, {more}] are the two.",
            f"Options:\n[{code}, {more}]\nare the two.",
            f"Use {code} or {more}.",
            f"{code} does that.",
        )
    )


def _lone_call(source: str, chance: random.Random) -> str:
    """A line of code with one of the names in it, alone or in its place."""
    names = "|".join(EVERYDAY)
    lines = [line for line in source.splitlines() if re.search(rf"\b(?:{names})\(", line)]
    return chance.choice(lines or [source[:100]]) + chance.choice(("", "\n", "\n" + sys.copyright))


def _code(name: str) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in _arguments(name).items())})"
