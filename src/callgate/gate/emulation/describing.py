"""Tools in few words: a signature for each, and what it and its parameters are for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from callgate.gate.emulation.shapes import (
    Choice,
    Entries,
    Fixed,
    Literals,
    Numeral,
    Record,
    Rows,
    Shape,
    Spelt,
    Whole,
    Words,
)
from callgate.vocabulary import Tool

LONGEST_DESCRIPTION = 600
LONGEST_OF_PARAMETER = 200
MOST_VALUES = 30
_DEEPEST = 4


def described(tools: Iterable[tuple[Tool, Shape]]) -> str:
    """A line for each tool, and one for each parameter that there is something to say about."""
    return "\n".join(_tool(tool, shape) for tool, shape in tools)


def _tool(tool: Tool, shape: Shape) -> str:
    fields = shape.fields if isinstance(shape, Record) else ()
    signature = ", ".join(f"{field.name}{'' if field.required else '?'}: {_type(field.shape)}" for field in fields)
    if not isinstance(shape, Record):
        signature = _type(shape)
    lines = [f"- {tool.name}({signature})"]
    if about := _short(tool.description, LONGEST_DESCRIPTION):
        lines[0] += f": {about}"
    properties = tool.parameters.get("properties")
    for field in fields:
        asked = properties.get(field.name) if isinstance(properties, Mapping) else None
        said = asked.get("description") if isinstance(asked, Mapping) else None
        if isinstance(said, str) and (short := _short(said, LONGEST_OF_PARAMETER)):
            lines.append(f"    {field.name}: {short}")
    return "\n".join(lines)


def _type(shape: Shape, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return "…"
    match shape:
        case Literals(values):
            if set(map(type, values)) == {bool} and len(values) == 2:
                return "boolean"
            shown = [msgspec.json.encode(value).decode() for value in values[:MOST_VALUES]]
            return " | ".join(shown + ["…"] * (len(values) > MOST_VALUES))
        case Words() | Spelt():
            return "string"
        case Whole():
            return "integer"
        case Numeral():
            return "number"
        case Record(fields):
            inner = (f"{one.name}{'' if one.required else '?'}: {_type(one.shape, depth + 1)}" for one in fields)
            return f"{{{', '.join(inner)}}}"
        case Entries(_, value):
            return f"{{…: {_type(value, depth + 1)}}}"
        case Rows(item):
            inside = _type(item, depth + 1)
            return f"({inside})[]" if " | " in inside else f"{inside}[]"
        case Fixed(items):
            return f"[{', '.join(_type(item, depth + 1) for item in items)}]"
        case Choice(options):
            return " | ".join(dict.fromkeys(_type(option, depth + 1) for option in options))


def _short(text: str, longest: int) -> str:
    words = " ".join(text.split())
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"
