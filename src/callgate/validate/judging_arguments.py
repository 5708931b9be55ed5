"""Whether the arguments of a call are those that were expected, as the tool's schema means them.

Numbers count by their value, true is no 1, what is left out is its default, a set has no order, and texts are the same
where they look the same. Everything else has to be exact.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from callgate.validate.case_records import ExpectedCall

_NONE: Mapping[str, Any] = {}


def are_right(expected: ExpectedCall, got: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether `got`, which fits `schema`, is what was expected or what the case accepts instead."""
    properties, arguments = _properties(schema), _arguments(expected)
    for name in {*arguments, *expected.accept, *expected.optional, *got}:
        part = properties.get(name, _NONE)
        accepted = _accepted(expected, name, part)
        if name in got:
            value = got[name]
            left_out = value is None and name not in arguments and name in properties
            if not left_out and not any(are_same(each, value, part) for each in accepted):
                return False
        elif name in arguments and not _may_be_left_out(expected, name, part):
            return False
    return True


def _arguments(expected: ExpectedCall) -> Mapping[str, Any]:
    return expected.arguments if isinstance(expected.arguments, dict) else _NONE


def _accepted(expected: ExpectedCall, name: str, schema: Mapping[str, Any]) -> Sequence[Any]:
    values = [*expected.accept.get(name, ()), *expected.optional.get(name, ())]
    if name in (arguments := _arguments(expected)):
        values.append(arguments[name])
    elif "default" in schema:
        values.append(schema["default"])
    return values


def _may_be_left_out(expected: ExpectedCall, name: str, schema: Mapping[str, Any]) -> bool:
    if name in expected.optional:
        return True
    return "default" in schema and are_same(_arguments(expected)[name], schema["default"], schema)


def are_same(expected: object, got: object, schema: Mapping[str, Any] = _NONE) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, int | float) and isinstance(got, int | float):
        return expected == got
    if isinstance(expected, str) and isinstance(got, str):
        return _text(expected) == _text(got)
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _are_same_objects(expected, got, schema)
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return _are_same_arrays(expected, got, schema)
    return expected is None and got is None


def _are_same_objects(expected: Mapping[str, Any], got: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    properties = _properties(schema)
    for name in {*expected, *got}:
        part = properties.get(name, _NONE)
        one, other = (each.get(name, part.get("default")) for each in (expected, got))
        if not are_same(one, other, part):
            return False
    return True


def _are_same_arrays(expected: Sequence[Any], got: Sequence[Any], schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    part = items if isinstance(items, Mapping) else _NONE
    if len(expected) != len(got):
        return False
    if schema.get("uniqueItems") is not True:
        return all(are_same(one, other, part) for one, other in zip(expected, got, strict=True))
    left = list(got)
    for one in expected:
        place = next((number for number, other in enumerate(left) if are_same(one, other, part)), None)
        if place is None:
            return False
        del left[place]
    return True


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return _NONE
    return {name: part for name, part in properties.items() if isinstance(part, Mapping)}


def _text(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
