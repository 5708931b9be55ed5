"""What goes with a type: its choices, its bounds, its description, its default."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import msgspec

Schema = dict[str, Any]

_KINDS: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
    "description": "description",
}
_LENGTHS = {"array": "Items", "object": "Properties"}


class NoSchema(Exception):
    """A hint that JSON has no words for."""


def described(schema: Schema, description: str) -> Schema:
    """The schema with that description, unless it has one of its own."""
    return {**schema, "description": description} if description and "description" not in schema else schema


def default_of(value: object, schema: Mapping[str, Any]) -> Schema:
    """`{"default": …}` where JSON can say it and the schema allows it; else nothing."""
    if value is None and not _takes_null(schema):
        return {}
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, float) and not isfinite(value):
        return {}
    try:
        said = msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError):
        return {}
    return {"default": said} if value is None or isinstance(value, str | int | float | list | tuple | dict) else {}


def _takes_null(schema: Mapping[str, Any]) -> bool:
    return not schema.keys() - {"description"} or {"type": "null"} in schema.get("anyOf", ())


def choice_of(values: Iterable[object]) -> Schema:
    """Raises: NoSchema."""
    listed = [value.value if isinstance(value, enum.Enum) else value for value in values]
    kinds = {type(value) for value in listed}
    if not all(value is None or isinstance(value, str | int | float | bool) for value in listed):
        raise NoSchema("its values are more than JSON can say")
    kind = _KINDS.get(kinds.pop()) if len(kinds) == 1 else None
    return {"type": kind, "enum": listed} if kind else {"enum": listed}


def is_field(note: object) -> bool:
    """Whether this is pydantic's `Field(…)`."""
    return type(note).__name__ == "FieldInfo" and type(note).__module__.startswith("pydantic")


def with_notes(schema: Schema, notes: Iterable[object]) -> Schema:
    """A text is a description; bounds are read from whatever has attributes of those names."""
    schema = dict(schema)
    for note in notes:
        if isinstance(note, str):
            schema["description"] = note
            continue
        for part in (note, *(getattr(note, "metadata", None) or ())):
            for attribute, keyword in _BOUNDS.items():
                value = getattr(part, attribute, None)
                if isinstance(value, str | int | float):
                    schema[keyword] = value
            for attribute, keyword in (("min_length", "min"), ("max_length", "max")):
                if isinstance(value := getattr(part, attribute, None), int):
                    schema[keyword + _LENGTHS.get(schema.get("type", ""), "Length")] = value
    return schema
