"""Whatever is written under a closed schema is valid under the tool's own, ends, and fits."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
import jsonschema_rs
import pytest
from hypothesis import strategies as st

from callgate.gate.emulation.closing import closed
from callgate.gate.emulation.grammar_text import GrammarWriter
from callgate.gate.emulation.schema_text import SchemaWriter
from callgate.gate.emulation.shapes import NOTHING, Literals, Record, Rows, Shape, Whole, Words, longest
from callgate.gate.emulation.understanding import understood
from tests.gate.emulation.gbnf import Grammar
from tests.gate.emulation.shaped import SCHEMAS, answers, compact

BUDGET = 4000


def close(schema: dict[str, Any], characters: int = BUDGET) -> Shape:
    return closed(schema, characters, longest_text=1999)


def field(shape: Shape, name: str) -> Shape:
    assert isinstance(shape, Record)
    return next(one.shape for one in shape.fields if one.name == name)


def of(schema: object, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}, **more}


def engine_schema(shape: Shape) -> dict[str, Any]:
    writer = SchemaWriter()
    return {**writer.schema(shape), "$defs": writer.definitions()}


@hypothesis.given(schema=SCHEMAS, data=st.data())
def test_what_is_written_under_the_schema_is_valid_under_both(schema: dict[str, Any], data: st.DataObject) -> None:
    shape = close(schema)
    hypothesis.assume(shape != NOTHING or not schema["required"])
    written = data.draw(answers(shape))
    jsonschema_rs.validate(engine_schema(shape), written)
    jsonschema_rs.validate(schema, understood(shape, written))


@hypothesis.given(schema=SCHEMAS, data=st.data())
def test_what_is_written_under_the_grammar_is_valid(schema: dict[str, Any], data: st.DataObject) -> None:
    shape = close(schema)
    hypothesis.assume(shape != NOTHING or not schema["required"])
    written = json.loads(compact(data.draw(answers(shape, direct=True))))
    jsonschema_rs.validate(schema, understood(shape, written))


@hypothesis.given(schema=SCHEMAS, data=st.data())
@hypothesis.settings(max_examples=50)
def test_the_grammar_takes_what_the_shape_allows(schema: dict[str, Any], data: st.DataObject) -> None:
    shape = close(schema, 300)
    writer = GrammarWriter()
    grammar = Grammar(writer.grammar(writer.value(shape)))
    written = data.draw(answers(shape, direct=True))
    assert grammar.matches(compact(written))
    assert not grammar.matches(compact(written) + " ")
    assert not grammar.matches(compact(written)[:-1])


@hypothesis.given(schema=SCHEMAS, characters=st.integers(200, 20_000))
def test_it_fits_unless_the_schema_itself_is_greater(schema: dict[str, Any], characters: int) -> None:
    shape = close(schema, characters)
    assert longest(shape) <= max(characters, longest(close(schema, 1)))


def every_schema(schema: Any) -> Any:
    if isinstance(schema, dict):
        yield schema
        for one in schema.values():
            yield from every_schema(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from every_schema(one)


@hypothesis.given(schema=SCHEMAS)
def test_every_part_is_closed_and_bounded(schema: dict[str, Any]) -> None:
    for part in every_schema(engine_schema(close(schema))):
        match part.get("type"):
            case "object":
                assert part["additionalProperties"] is False
            case "array":
                assert part["maxItems"] < 2000
            case "string":
                assert part.get("maxLength", 0) < 2000
                assert "maxLength" in part or not set("*+") & set(part["pattern"].replace("\\", ""))
            case "integer":
                assert part["maximum"] < 10**16
                assert part["minimum"] > -(10**16)
            case kind:
                assert kind in (None, "number")  # of which engines themselves bound the digits


def test_recursion_is_cut() -> None:
    tree = {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["value"],
    }
    shape = close(tree)
    child = field(shape, "children")
    assert isinstance(child, Rows)
    assert longest(shape) < BUDGET


def test_recursion_that_cannot_end_leaves_nothing() -> None:
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert close(endless) == NOTHING


def test_a_wide_recursion_takes_no_time() -> None:
    wide = {
        "type": "object",
        "properties": {f"p{count}": {"$ref": f"#/$defs/d{count % 7}"} for count in range(50)},
    }
    wide["$defs"] = {f"d{count}": dict(wide) for count in range(7)}
    assert longest(close(wide)) <= BUDGET


def test_references_are_followed_with_what_stands_beside_them() -> None:
    schema = of({"$ref": "#/$defs/size", "maximum": 5}, **{"$defs": {"size": {"type": "integer", "minimum": 1}}})
    assert field(close(schema), "x") == Whole(1, 5)


def test_all_of_is_joined() -> None:
    schema = of({"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 9}, {"minimum": 3}]})
    assert field(close(schema), "x") == Whole(3, 9)


def test_common_properties_reach_every_option() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "required": ["kind"],
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["n"]},
            {"properties": {"kind": {"const": "b"}}},
        ],
    }
    written = jsonschema_rs.validator_for(schema)
    shape = close(schema)
    assert written.is_valid({"kind": "a", "n": 1})
    assert field(shape.options[0], "kind") == Literals(("a",))  # type: ignore[union-attr]


def test_an_enum_keeps_to_its_type() -> None:
    assert field(close(of({"type": "string", "enum": ["a", None, 1]})), "x") == Literals(("a",))


def test_texts_of_an_array_share_the_room() -> None:
    shape = field(close(of({"type": "array", "items": {"type": "string"}})), "x")
    assert isinstance(shape, Rows)
    assert isinstance(shape.item, Words)
    assert shape.item.longest * shape.most <= BUDGET


@pytest.mark.parametrize(
    "hostile",
    [
        {"type": "object", "properties": {"x": {"minLength": 10**9, "type": "string"}}},
        {"type": "object", "properties": {"x": {"minItems": 10**9, "type": "array"}}},
        {"type": "object", "properties": {"x": {"type": "string", "pattern": "(" * 400}}},
        {"type": "object", "properties": {"x": {"type": "integer", "minimum": 10**400}}},
        {"type": "object", "properties": {"x": {"type": "number", "minimum": float("inf")}}},
        {"type": "object", "properties": {"x": {"type": "number", "multipleOf": 0}}},
        {"type": "object", "properties": 3, "required": "x", "dependentRequired": 7},
        {"type": 7, "anyOf": 3, "allOf": "x", "$ref": 5},
        {"type": "object", "properties": {"x": {"$ref": "http://elsewhere/schema"}}},
        {"type": "object", "properties": {"x": {"enum": []}}},
    ],
)
def test_hostile_schemas_are_survived(hostile: dict[str, Any]) -> None:
    shape = close(hostile)
    engine_schema(shape)
    GrammarWriter().value(shape)


def test_deep_schemas_are_survived() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        deep = of(deep)
    assert close(deep) == NOTHING or longest(close(deep)) < BUDGET
