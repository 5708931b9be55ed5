"""Reads tools in the forms in which people have them: functions, OpenAI's, Ollama's, MCP's, Anthropic's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from unicodedata import category

import msgspec

from callgate.tools.offering import name_of_two
from callgate.tools.schema_check import SchemaCheck
from callgate.vocabulary import Tool, UsageError

MOST_TOOLS = 10_000
LONGEST_NAME = 256
_MOST_BYTES_KEPT = 1_000_000
_SCHEMA_KEYS = ("parameters", "inputSchema", "input_schema")
_OWN_TYPES = ("function", "custom", "tool")
"""Of tools that the caller runs; with any other, a server would run it itself."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters, halves of characters, ends of lines."""
_FORMS = (
    '[{"type": "function", "function": {"name": …, "parameters": …}}], [{"name": …, "parameters": …}] '
    'or {"tools": [{"name": …, "inputSchema": …}]}'
)


def read_tools(content: object) -> tuple[Tool, ...]:
    """The tools in `content`: a list of them, or what has the list under `tools` (or `functions`, as it once was).

    Each may be an object in any of the known forms, one of the `mcp` package, a Python function, or a `Tool`.
    The same content read again gives the very same records, so that what was made of them is found again, too.

    Raises: UsageError, which names the tool that is no good.
    """
    text = _as_text(content)
    return _read_all(content) if text is None else read_encoded_tools(text)


def read_encoded_tools(text: bytes) -> tuple[Tool, ...]:
    """The same, of plain JSON."""
    if len(text) > _MOST_BYTES_KEPT:
        return _read_all(msgspec.json.decode(text))
    return _read_text(text)


@lru_cache(maxsize=64)
def _read_text(text: bytes) -> tuple[Tool, ...]:
    # Out of the text, so that what is kept can't be changed from outside.
    return _read_all(msgspec.json.decode(text))


def _as_text(content: object) -> bytes | None:
    """Plain JSON, by which it is known again; None for anything else."""
    try:
        return msgspec.json.encode(content)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def _read_all(content: object) -> tuple[Tool, ...]:
    entries = _entries(content)
    check = SchemaCheck()
    tools = tuple(_read(entry, number, check) for number, entry in enumerate(entries, start=1))
    if (twice := name_of_two(tools)) is not None:
        raise UsageError(f"there are two tools called {twice!r}", hint="give one of them another name")
    return tools


def _entries(content: object) -> list[object]:
    if isinstance(content, Mapping):
        content = content.get("tools", content.get("functions"))
    elif not isinstance(content, Iterable) or hasattr(content, "tools"):
        content = getattr(content, "tools", None)
    if isinstance(content, Iterable) and not isinstance(content, str | bytes | Mapping):
        entries = [entry for _, entry in zip(range(MOST_TOOLS + 1), content, strict=False)]
        if len(entries) <= MOST_TOOLS:
            return entries
    raise UsageError("that is no list of tools", hint=f"write {_FORMS}")


def _read(entry: object, number: int, check: SchemaCheck) -> Tool:
    if isinstance(entry, Tool):
        return _checked(entry, check)
    if isinstance(entry, Mapping):
        return _of_object(entry, number, check)
    if hasattr(entry, "inputSchema") or hasattr(entry, "input_schema"):  # of the mcp package, before and since its v2
        said = {key: getattr(entry, key, None) for key in ("name", "description", *_SCHEMA_KEYS)}
        return _of_object(said, number, check)
    if callable(entry):
        from callgate.tools.functions import tool_of

        return tool_of(entry)
    raise UsageError(f"tool {number} is no object", hint=f"write {_FORMS}")


def _checked(tool: Tool, check: SchemaCheck) -> Tool:
    name = _name(tool.name, 0)
    parameters = check.parameters(name, tool.parameters)
    return tool if parameters == tool.parameters else msgspec.structs.replace(tool, parameters=parameters)


def _of_object(entry: Mapping[str, Any], number: int, check: SchemaCheck) -> Tool:
    kind = entry.get("type")
    inner = entry.get("function") if kind in ("function", None) else None
    definition: Mapping[str, Any] = inner if isinstance(inner, Mapping) else entry
    if isinstance(kind, str) and kind not in _OWN_TYPES and not any(key in definition for key in _SCHEMA_KEYS):
        raise UsageError(
            f"tool {number} is of the type {kind[:80]!r}, which callgate doesn't know",
            hint="leave it out, or offer a function of your own that does it",
        )
    name = _name(definition.get("name"), number)
    description = definition.get("description") or ""
    if not isinstance(description, str):
        raise UsageError(f"the description of tool {name!r} is no text")
    schema = next((definition[key] for key in _SCHEMA_KEYS if definition.get(key) is not None), None)
    return Tool(name, description, check.parameters(name, schema))


def _name(name: object, number: int) -> str:
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"tool {number} has no name" if number else "a tool has no name")
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the name of tool {name[:40] + '…'!r} is longer than {LONGEST_NAME} characters")
    if any(category(letter) in _UNSEEN for letter in name):
        raise UsageError(f"the name of tool {name!r} has a character in it that can't be seen")
    return name
