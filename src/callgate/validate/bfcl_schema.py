"""From the leaderboard's dialect of JSON Schema to JSON Schema itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEEPEST = 32
_TYPES = {
    "dict": "object",
    "object": "object",
    "float": "number",
    "double": "number",
    "number": "number",
    "integer": "integer",
    "long": "integer",
    "boolean": "boolean",
    "bool": "boolean",
    "array": "array",
    "list": "array",
    "tuple": "array",
    "string": "string",
    "any": "string",
}
_CHECKS: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}
_KEPT = ("description", "default", "enum", "maximum", "minimum", "minItems", "maxItems")
_IS_FLOAT = " This is a float type value."
"""What the leaderboard itself adds for models that take JSON Schema, which knows one kind of number only."""


def json_schema(given: Mapping[str, Any]) -> dict[str, Any]:
    """Of a function's parameters. What can't be said in JSON Schema, or makes no sense in it, is left out."""
    schema = _node(given, 0)
    schema["type"] = "object"
    schema.setdefault("properties", {})
    return schema


def _node(given: Mapping[str, Any], depth: int) -> dict[str, Any]:
    said = given.get("type")
    kind = _TYPES.get(said, "string") if isinstance(said, str) else "string"
    schema: dict[str, Any] = {"type": kind}
    schema |= {word: given[word] for word in _KEPT if word in given}
    if said == "float":
        schema["format"] = "float"
        schema["description"] = f"{schema.get('description', '')}{_IS_FLOAT}".strip()
    elif isinstance(given.get("format"), str):
        schema["format"] = given["format"]
    if depth < DEEPEST:
        _add_parts(schema, given, depth)
    _mend_choices(schema)
    return schema


def _add_parts(schema: dict[str, Any], given: Mapping[str, Any], depth: int) -> None:
    properties, items, required = (given.get(word) for word in ("properties", "items", "required"))
    if schema["type"] == "object":
        if isinstance(properties, Mapping):
            parts = {name: part for name, part in properties.items() if isinstance(part, Mapping)}
            schema["properties"] = {name: _node(part, depth + 1) for name, part in parts.items()}
            if isinstance(required, list):
                schema["required"] = [name for name in dict.fromkeys(required) if name in schema["properties"]]
    elif schema["type"] == "array" and isinstance(items, Mapping):
        schema["items"] = _node(items, depth + 1)


def _mend_choices(schema: dict[str, Any]) -> None:
    """Some choices are meant for the items of a list, and some are of another type than what they are choices for."""
    choices = schema.get("enum")
    if choices is None:
        return
    kind = schema["type"]
    if not isinstance(choices, list) or not choices:
        del schema["enum"]
    elif all(_fits(choice, kind) for choice in choices):
        return
    elif kind == "array" and not any(isinstance(choice, list) for choice in choices):
        del schema["enum"]
        schema["items"] = {**schema.get("items", {}), "enum": choices}
    else:
        del schema["enum"]
        schema["anyOf"] = [{"type": schema.pop("type")}, {"enum": choices}]


def _fits(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _CHECKS[kind])
