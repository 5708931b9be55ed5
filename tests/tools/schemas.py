"""Random schemas, values that fit them more or less, and the ways in which models damage values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

NAMES = ["city", "days", "unit", "tags", "where", "arguments", "City", "a/b", "~x"]
TEXTS = [
    "Paris",
    "5",
    "00713",
    "true",
    "null",
    "1,234",
    "1,234,567",
    "3,14",
    "celsius",
    " Celsius ",
    "",
    "[1, 2]",
    '{"city": 1}',
    "{'days': '5'}",
    '"5"',
    "a, b",
    "None",
    "é",
    '"{\\"days\\": 5}"',
]

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from([0.5, 5.0, 1e300]), st.sampled_from(TEXTS)
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)

_kinds = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
_simple: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(lambda kind: {"type": kind}, _kinds),
    st.builds(lambda kinds: {"type": kinds}, st.lists(_kinds, min_size=1, max_size=3, unique=True)),
    st.builds(lambda members: {"enum": members}, st.lists(scalars, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, scalars),
    st.just({"$ref": "#/$defs/some"}),
    st.just({"$ref": "#"}),
    st.just({"type": "integer", "minimum": 3}),
    st.just({"type": "string", "pattern": "^[0-9]+$"}),
    st.just({}),
)


def _object(properties: dict[str, Any], required: list[str], extra: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, **extra}


def _wider(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    some = st.lists(inner, min_size=1, max_size=3)
    closed = st.sampled_from(
        [{}, {"additionalProperties": False}, {"unevaluatedProperties": False}, {"maxProperties": 1}]
    )
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda first, items: {"prefixItems": first, "items": items}, some, inner),
        st.builds(lambda parts: {"anyOf": parts}, some),
        st.builds(lambda parts: {"oneOf": parts}, some),
        st.builds(lambda parts: {"allOf": parts}, some),
        st.builds(lambda part: {"not": part}, inner),
        st.builds(lambda one, two, three: {"if": one, "then": two, "else": three}, inner, inner, inner),
        st.builds(lambda part: {"type": "object", "additionalProperties": part}, inner),
        st.builds(lambda part: {"type": "object", "patternProperties": {"^[a-d]": part}}, inner),
        st.builds(
            _object,
            st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
            st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            closed,
        ),
    )


parts = st.recursive(_simple, _wider, max_leaves=6)
schemas: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda properties, required, extra, some: {**_object(properties, required, extra), "$defs": {"some": some}},
    st.dictionaries(st.sampled_from(NAMES), parts, min_size=1, max_size=4),
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
    st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}]),
    parts,
)

arguments: st.SearchStrategy[Any] = st.one_of(
    st.dictionaries(st.sampled_from(NAMES), values, max_size=4),
    values,
    st.builds(json.dumps, values),
    st.builds(lambda value: {"arguments": value}, st.dictionaries(st.sampled_from(NAMES), values, max_size=3)),
    st.builds(lambda value: [value], st.dictionaries(st.sampled_from(NAMES), values, max_size=3)),
    st.builds(
        lambda value, cut: json.dumps(value)[:-cut], st.dictionaries(st.sampled_from(NAMES), values), st.integers(1, 5)
    ),
    st.builds(repr, values),
)


def _damages(value: Any) -> list[Any]:
    """Ways in which models write a value of a known type wrongly, each of which can only mean that value."""
    match value:
        case bool():
            return [str(value), str(value).upper(), f" {json.dumps(value)} "]
        case int():
            return [str(value), f" {value}", f"{value}.0", f"{value:_}"]
        case float():
            return [str(value)]
        case dict() | list():
            return [json.dumps(value), json.dumps(json.dumps(value)), repr(value)]
        case "celsius" | "fahrenheit":
            return [value.upper(), f" {value}\n", f'"{value}"']
    return []


@st.composite
def damaged(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any]:
    """A schema, arguments that fit it, and the same after damage."""
    letters = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=6)
    typed: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
        ({"type": "string"}, st.text(st.sampled_from("abé'\"\\ ,:{}5\n"), max_size=5)),
        ({"type": "integer"}, st.integers(-(2**52), 2**52)),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, st.integers(-99, 99)),
        ({"type": ["boolean", "null"]}, st.booleans()),
        ({"type": "number"}, st.floats(-1e9, 1e9)),
        ({"type": "boolean"}, st.booleans()),
        ({"enum": ["celsius", "fahrenheit"]}, st.sampled_from(["celsius", "fahrenheit"])),
        ({"type": "array", "items": {"type": "integer"}}, st.lists(st.integers(-99, 99), min_size=1, max_size=3)),
        (
            {"type": "object", "properties": {"n": {"$ref": "#/$defs/whole"}}},
            st.fixed_dictionaries({"n": st.integers(0, 9)}),
        ),
    ]
    names = draw(st.lists(letters, min_size=1, max_size=4, unique=True))
    properties, whole, broken = {}, {}, {}
    for name in names:
        properties[name], strategy = draw(st.sampled_from(typed))
        whole[name] = draw(strategy)
        broken[name] = draw(st.sampled_from([whole[name], *_damages(whole[name])]))
        if whole[name] == [5] and draw(st.booleans()):
            broken[name] = 5
    schema = {
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": False,
        "$defs": {"whole": {"type": "integer"}},
    }
    return schema, whole, draw(st.sampled_from(_AROUND))(broken)


_AROUND: list[Callable[[dict[str, Any]], Any]] = [
    lambda value: value,
    json.dumps,
    repr,
    lambda value: json.dumps(json.dumps(value)),
    lambda value: {**value, "STRAY KEY": 1},
    lambda value: [value],
    lambda value: json.dumps(value)[:-1] + ",}",
]
