"""JSON Schemas made one: what all of them ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_GREATER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_SMALLER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def joined(one: Schema, other: Schema) -> Schema:
    """What holds both. Where there are no words for that, `one` has the say."""
    both: dict[str, Any] = dict(one)
    for key, asked in other.items():
        if key not in both:
            both[key] = asked
            continue
        had = both[key]
        if key == "properties" and isinstance(had, Mapping) and isinstance(asked, Mapping):
            shared = {name: {"allOf": [had[name], asked[name]]} for name in had if name in asked}
            both[key] = {**had, **asked, **shared}
        elif key == "required" and isinstance(had, list | tuple) and isinstance(asked, list | tuple):
            both[key] = [*had, *(name for name in asked if name not in had)]
        elif key == "enum" and isinstance(had, list | tuple) and isinstance(asked, list | tuple):
            both[key] = [value for value in had if value in asked]
        elif key == "type":
            both[key] = _common_types(had, asked)
        elif key == "items":
            both[key] = {"allOf": [had, asked]}
        elif key == "allOf" and isinstance(had, list | tuple) and isinstance(asked, list | tuple):
            both[key] = [*had, *asked]
        elif key in ("anyOf", "oneOf"):
            both["allOf"] = [*both.get("allOf", ()), {key: asked}]
        elif key == "additionalProperties" and asked is False:
            both[key] = False
        elif key in _GREATER and _is_number(had) and _is_number(asked):
            both[key] = max(had, asked)
        elif key in _SMALLER and _is_number(had) and _is_number(asked):
            both[key] = min(had, asked)
    return both


def _common_types(one: object, other: object) -> list[Any]:
    some = one if isinstance(one, list) else [one]
    others = other if isinstance(other, list) else [other]
    common = [kind for kind in some if kind in others]
    if "integer" not in common and (
        ("number" in some and "integer" in others) or ("integer" in some and "number" in others)
    ):
        common.append("integer")
    return common


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
