"""Schemas as people write them, and answers as an engine would write them under a shape."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from callgate.gate.emulation.expressions import Characters, Either, Expression, Repeated, Sequel
from callgate.gate.emulation.numerals import ANY_NUMBER
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

CHARACTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))
NAMES = st.text("abcdefgh_-ü", min_size=1, max_size=6)
PATTERNS = st.sampled_from(
    [
        "^[A-Z]{3}$",
        "^[a-z]+(-[a-z]+)*$",
        "[0-9]+",
        r"^\d{3}-\d{4}$",
        r"^\w+@\w+\.\w+$",
        r"^(?:yes|no)?$",
        r"^#[0-9a-fA-F]{6}$",
        "^[^aeiou]{2,}",
        "^a|b$",
        r"^\+?[1-9]\d{1,14}$",
        r"^[\w.+-]*$",
        "^.{3,}$",
    ]
)
NUMBERS = st.one_of(st.integers(-1000, 1000), st.floats(-1000, 1000, allow_nan=False).map(lambda x: round(x, 3)))


@st.composite
def numbers(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    low = draw(st.none() | NUMBERS)
    if low is not None:
        found[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    width = draw(st.none() | st.integers(2, 500))
    if width is not None:
        found[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = (low or 0) + width
    if draw(st.booleans()) and found["type"] == "integer":
        found["multipleOf"] = draw(st.integers(1, 2))
    return found


@st.composite
def texts(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string"}
    kind = draw(st.sampled_from(["free", "bounded", "pattern", "format"]))
    if kind == "bounded":
        found["minLength"] = draw(st.integers(0, 5))
        found["maxLength"] = found["minLength"] + draw(st.integers(0, 5000))
    elif kind == "pattern":
        found["pattern"] = draw(PATTERNS)
    elif kind == "format":
        found["format"] = draw(st.sampled_from(["date", "date-time", "time", "uuid", "email", "ipv4", "uri", "byte"]))
    return found


LEAVES = st.one_of(
    numbers(),
    texts(),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({"type": "object"}),
    st.just({}),
    st.builds(lambda x: {"const": x}, st.none() | st.booleans() | st.integers() | NAMES),
    st.builds(lambda x: {"enum": x}, st.lists(st.none() | st.integers(-9, 9) | NAMES, min_size=1, max_size=5)),
    st.just({"type": ["string", "null"]}),
    st.just({"type": ["integer", "string"], "minLength": 2}),
    st.just({"$ref": "#/$defs/tree"}),
)


def _objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        properties = draw(st.dictionaries(NAMES, inner, max_size=4))
        found: dict[str, Any] = {"type": "object", "properties": properties}
        found["required"] = [name for name in properties if draw(st.booleans())]
        if draw(st.booleans()):
            found["additionalProperties"] = draw(st.booleans() | inner)
        if draw(st.booleans()) and properties:
            found["minProperties"] = draw(st.integers(0, len(properties)))
        return found

    return build()


def _arrays(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "array", "items": draw(inner)}
        if draw(st.booleans()):
            found["minItems"] = draw(st.integers(0, 3))
        if draw(st.booleans()):
            found["maxItems"] = found.get("minItems", 0) + draw(st.integers(0, 40))
        elif draw(st.booleans()) and not found.get("minItems"):
            found["uniqueItems"] = True
        return found

    return build()


TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["name"],
}


def _nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        _objects(inner),
        _arrays(inner),
        st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda one: {"allOf": [one, {"description": "again"}]}, inner),
        st.builds(lambda one: {"type": "object", "additionalProperties": one}, inner),
    )


SCHEMAS = _objects(st.recursive(LEAVES, _nested, max_leaves=6)).map(lambda schema: {**schema, "$defs": {"tree": TREE}})


def spelt(expression: Expression) -> st.SearchStrategy[str]:
    match expression:
        case Characters(ranges):
            return st.one_of([st.integers(low, high).map(chr) for low, high in ranges])
        case Sequel(parts):
            return st.tuples(*map(spelt, parts)).map("".join)
        case Either(options):
            return st.one_of([spelt(option) for option in options])
        case Repeated(part, fewest, most):
            return st.lists(spelt(part), min_size=fewest, max_size=most).map("".join)


def answers(shape: Shape, *, direct: bool = False) -> st.SearchStrategy[Any]:
    """What an engine may write under a shape: under its schema, or `direct`, under its grammar."""

    def inner(one: Shape) -> st.SearchStrategy[Any]:
        return answers(one, direct=direct)

    match shape:
        case Literals(values):
            return st.sampled_from(values)
        case Words(shortest, longest):
            return st.text(CHARACTERS, min_size=shortest, max_size=min(longest, shortest + 8))
        case Spelt(expression):
            return spelt(expression)
        case Numeral(expression):
            return spelt(expression).map(_number) if direct else spelt(expression)
        case Whole(lowest, highest):
            return st.integers(lowest, highest)
        case Record(fields):
            return st.fixed_dictionaries(
                {field.name: inner(field.shape) for field in fields if field.required},
                optional={field.name: inner(field.shape) for field in fields if not field.required},
            ).map(lambda drawn: {field.name: drawn[field.name] for field in fields if field.name in drawn})
        case Entries(key, value, fewest, most):
            if direct:
                return st.dictionaries(inner(key), inner(value), min_size=fewest, max_size=most)
            pairs = st.fixed_dictionaries({"key": inner(key), "value": inner(value)})
            return st.lists(pairs, min_size=fewest, max_size=most)
        case Rows(item, fewest, most):
            return st.lists(inner(item), min_size=fewest, max_size=min(most, fewest + 3))
        case Fixed(items):
            return st.tuples(*map(inner, items)).map(list)
        case Choice(options):
            if not direct and any(isinstance(option, Words | Spelt) for option in options):
                # Beside texts, a number is written as one.
                numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15), 10**15)
                return st.one_of([numbers if option == ANY_NUMBER else inner(option) for option in options])
            return st.one_of([inner(option) for option in options])


class Digits(float):
    """A number that is written as the grammar has it."""

    spelling: str


def _number(spelling: str) -> Digits:
    found = Digits(spelling)
    found.spelling = spelling
    return found


def compact(value: Any) -> str:
    """As JSON, the way a grammar has it written."""
    match value:
        case Digits():
            return value.spelling
        case dict():
            return (
                "{"
                + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{compact(one)}" for key, one in value.items())
                + "}"
            )
        case list():
            return "[" + ",".join(map(compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
