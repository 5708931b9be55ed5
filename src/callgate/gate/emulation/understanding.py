"""What an engine wrote under the schema of a shape, or under its grammar, as the value that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.gate.emulation.matching import is_spelt
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


def understood(shape: Shape, value: Any) -> Any:
    """The value itself; a number for its spelling, an object for its pairs, an array without its doubles.

    What doesn't fit the shape is left as it is.
    """
    match shape:
        case Numeral() if isinstance(value, str):
            return _number(value)
        case Record(fields) if isinstance(value, dict):
            shapes = {field.name: field.shape for field in fields}
            return {name: understood(shapes[name], one) if name in shapes else one for name, one in value.items()}
        case Entries(key, inner) if _are_pairs(value):
            return {str(understood(key, pair["key"])): understood(inner, pair["value"]) for pair in value}
        case Entries(_, inner) if isinstance(value, dict):
            return {name: understood(inner, one) for name, one in value.items()}
        case Rows(item, fewest, _, unique) if isinstance(value, list):
            items = [understood(item, one) for one in value]
            return _without_doubles(items, fewest) if unique else items
        case Fixed(places) if isinstance(value, list) and len(value) == len(places):
            return [understood(place, one) for place, one in zip(places, value, strict=True)]
        case Choice(options):
            # What is a text stays a text, where it may be one.
            by_rank = sorted(options, key=lambda option: isinstance(option, Numeral))
            fitting = next((option for option in by_rank if _fits(option, value)), None)
            return value if fitting is None else understood(fitting, value)
    return value


def _fits(shape: Shape, value: Any) -> bool:
    """Whether it was written under the schema of this shape: near enough to tell options apart."""
    match shape:
        case Literals(values):
            return any(type(value) is type(one) and value == one for one in values)
        case Numeral():
            return _is_number(_number(value) if isinstance(value, str) else value)
        case Words():
            return isinstance(value, str)
        case Spelt(expression):
            return isinstance(value, str) and is_spelt(expression, value)
        case Whole(lowest, highest):
            return _is_number(value) and lowest <= value <= highest
        case Record(fields):
            names = {field.name: field for field in fields}
            return (
                isinstance(value, dict)
                and all(name in names and _fits(names[name].shape, one) for name, one in value.items())
                and all(field.name in value for field in fields if field.required)
            )
        case Entries(_, inner) if isinstance(value, dict):
            return all(_fits(inner, one) for one in value.values())
        case Entries(key, inner):
            return _are_pairs(value) and all(_fits(key, pair["key"]) and _fits(inner, pair["value"]) for pair in value)
        case Rows(item, fewest, most):
            return isinstance(value, list) and fewest <= len(value) <= most and all(_fits(item, one) for one in value)
        case Fixed(places):
            return isinstance(value, list) and len(value) == len(places) and all(map(_fits, places, value))
        case Choice(options):
            return any(_fits(option, value) for option in options)


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) and set(one) == {"key", "value"} for one in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(spelling: str) -> Any:
    try:
        return msgspec.json.decode(spelling, type=int | float)
    except (msgspec.DecodeError, ValueError):
        return spelling


def _without_doubles(items: list[Any], fewest: int) -> list[Any]:
    seen: dict[bytes, Any] = {}
    for item in items:
        seen.setdefault(msgspec.json.encode(item, order="sorted"), item)
    return list(seen.values()) if len(seen) >= fewest else items
