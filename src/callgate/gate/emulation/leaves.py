"""What a schema says of one value: of which kinds it is, and as a text or a number how long or how great."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from callgate.gate.emulation.expressions import MOST_REPEATS, within
from callgate.gate.emulation.formats import FORMATS
from callgate.gate.emulation.joining import Schema
from callgate.gate.emulation.numerals import number, whole_number
from callgate.gate.emulation.patterns import read_expression
from callgate.gate.emulation.shapes import Shape, Spelt, Words

_GREATEST_BOUND = 2**63
"""Engines read bounds as such numbers."""
_KINDS = ("string", "integer", "number", "boolean", "null", "object", "array")
_TELLTALE = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


def kinds_of(schema: Schema) -> list[str]:
    asked = schema.get("type")
    if isinstance(asked, str):
        return [asked] if asked in _KINDS else []
    if isinstance(asked, list | tuple):
        kinds = [kind for kind in _KINDS if kind in asked]
        return [kind for kind in kinds if not (kind == "integer" and "number" in kinds)]
    return [kind for kind, keys in _TELLTALE.items() if any(key in schema for key in keys)][:1]


def is_of(value: object, kinds: list[str]) -> bool:
    if not kinds:
        return True
    match value:
        case None:
            return "null" in kinds
        case bool():
            return "boolean" in kinds
        case int():
            return "integer" in kinds or "number" in kinds
        case float():
            return "number" in kinds or ("integer" in kinds and value.is_integer())
        case str():
            return "string" in kinds
        case Mapping():
            return "object" in kinds
    return "array" in kinds


def text_of(schema: Schema, text: int) -> Shape | None:
    shortest = min(count_in(schema, "minLength") or 0, MOST_REPEATS)
    most = count_in(schema, "maxLength")
    if most is not None and most < shortest:
        return None
    limit = max(shortest, text if most is None else min(most, text))
    if isinstance(pattern := schema.get("pattern"), str):
        expression = read_expression(pattern)
        return Words(shortest, limit) if expression is None else Spelt(within(expression, shortest, limit))
    if isinstance(named := schema.get("format"), str) and named in FORMATS:
        return Spelt(FORMATS[named])
    return Words(shortest, limit)


def number_of(kind: str, schema: Schema) -> Shape | None:
    low, above = _end(schema, "minimum", "exclusiveMinimum", max)
    high, below = _end(schema, "maximum", "exclusiveMaximum", min)
    step = _fraction(schema.get("multipleOf"))
    if kind == "number":
        return number(low, high, above=above, below=below, step=step)
    first = None if low is None else math.floor(low) + 1 if above else math.ceil(low)
    last = None if high is None else math.ceil(high) - 1 if below else math.floor(high)
    return whole_number(first, last, step)


def _end(schema: Schema, key: str, strict: str, harder: Any) -> tuple[Fraction | None, bool]:
    """A bound, and whether it is itself left out. `exclusiveMinimum: true` is how old schemas say that it is."""
    bound, beyond = _fraction(schema.get(key)), _fraction(schema.get(strict))
    if beyond is None:
        return bound, schema.get(strict) is True
    if bound is None or harder(bound, beyond) == beyond:
        return beyond, True
    return bound, False


def _fraction(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _GREATEST_BOUND:
        return None
    return Fraction(str(value))


def count_in(schema: Schema, key: str) -> int | None:
    value = schema.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _GREATEST_BOUND:
        return None
    return int(value)
