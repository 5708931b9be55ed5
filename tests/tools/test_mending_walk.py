from __future__ import annotations

from typing import Any

import pytest

from callgate.tools import repair


def mended(schema: dict[str, Any], value: Any, **defs: Any) -> Any:
    """What becomes of `value` as the one argument of a tool; the same object, if nothing does."""
    whole = {"type": "object", "properties": {"x": schema}, "$defs": defs}
    given = {"x": value}
    found = repair(given, whole)
    assert bool(found.repairs) is (found.arguments is not given)
    return found.arguments.get("x", "left out")


INTEGER, BOOLEAN, STRING, NULL = {"type": "integer"}, {"type": "boolean"}, {"type": "string"}, {"type": "null"}
INTEGERS = {"type": "array", "items": INTEGER}
CLOSED = {"additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "value", "result"),
    [
        ({"anyOf": [INTEGER, STRING]}, "5", "5"),
        ({"type": ["integer", "string"]}, "5", "5"),
        ({"anyOf": [INTEGER, BOOLEAN]}, "5", 5),
        ({"anyOf": [INTEGER, BOOLEAN]}, "true", True),
        ({"type": ["boolean", "integer"]}, "TRUE", True),
        ({"type": ["integer", "number"]}, "5", 5),
        ({"anyOf": [{"enum": ["A"]}, {"enum": ["a "]}]}, "a", "a"),
        ({"anyOf": [INTEGER, NULL]}, "null", None),
        ({"anyOf": [STRING, NULL]}, "null", "null"),
        ({"anyOf": [INTEGER, INTEGERS]}, "5", 5),
        ({"anyOf": [BOOLEAN, INTEGERS]}, "5", [5]),
        ({"anyOf": [INTEGERS, {"type": "array", "items": BOOLEAN}]}, ["1", "2"], [1, 2]),
        ({"oneOf": [{"type": "number"}, INTEGER]}, "5", "5"),
        ({"oneOf": [{"type": "number"}, BOOLEAN]}, "5.5", 5.5),
        ({"allOf": [{"type": "number"}, {"minimum": 3}]}, "5", 5),
        ({"allOf": [{"type": "number"}, {"minimum": 3}]}, "2", "2"),
        ({"anyOf": [{"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}, NULL]}, {"a": "5"}, {"a": 5}),
        ({"anyOf": [{"type": "object", "properties": {"a": INTEGER}, "required": ["b"]}, NULL]}, {"a": "5"}, {"a": 5}),
        (
            {
                "oneOf": [
                    {"properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
                    {"properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]},
                ],
                "type": "object",
            },
            {"kind": "Square", "a": "2"},
            {"kind": "square", "a": 2},
        ),
        (
            {
                "anyOf": [
                    {"type": "object", "properties": {"a": INTEGER}, **CLOSED},
                    {"type": "object", "properties": {"b": INTEGER}, **CLOSED},
                ]
            },
            {"a": 1, "b": 2},
            {"a": 1, "b": 2},
        ),
    ],
)
def test_a_union_is_mended_only_where_one_branch_can_be_meant(schema: dict[str, Any], value: Any, result: Any) -> None:
    found = mended(schema, value)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("schema", "value", "result"),
    [
        (INTEGERS, ["1", 2, "3"], [1, 2, 3]),
        (INTEGERS, "5", [5]),
        (INTEGERS, 5, [5]),
        (INTEGERS, "[1, '2']", [1, 2]),
        (INTEGERS, "1,2", "1,2"),
        (INTEGERS, "100,200", "100,200"),
        (INTEGERS, "", ""),
        (INTEGERS, "[1, 2 ", [1, 2]),
        (INTEGERS, "[1, 2", "[1, 2"),
        (INTEGERS, "[1, x y", "[1, x y"),
        ({"type": "array", "items": STRING}, "a, b", "a, b"),
        ({"type": "array", "items": STRING}, "[not json", "[not json"),
        ({"type": "array", "items": STRING}, '["a, b"]', ["a, b"]),
        ({"type": "array", "items": STRING}, '{"a": 1}', ['{"a": 1}']),
        ({"type": "array", "items": {"type": "object"}}, '{"a": 1}', [{"a": 1}]),
        ({"type": "array", "items": INTEGERS}, [["1"], "[2]"], [[1], [2]]),
        ({"type": "array", "items": INTEGERS}, "5", "5"),
        ({"type": "array"}, "a", ["a"]),
        ({"type": "array", "maxItems": 0}, "a", "a"),
        ({"type": "array", "prefixItems": [INTEGER, BOOLEAN], "items": STRING}, ["1", "true", "2"], [1, True, "2"]),
    ],
)
def test_arrays_are_mended_item_by_item(schema: dict[str, Any], value: Any, result: Any) -> None:
    assert mended(schema, value) == result


def test_references_are_followed_also_where_they_lead_back() -> None:
    tree = {
        "type": "object",
        "properties": {"n": INTEGER, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "required": ["n"],
    }
    value = {"n": "1", "children": {"n": "2", "children": '[{"n": "3"}]'}}
    expected = {"n": 1, "children": [{"n": 2, "children": [{"n": 3}]}]}
    assert mended({"$ref": "#/$defs/tree"}, value, tree=tree) == expected


def test_what_stands_beside_a_reference_counts_too() -> None:
    assert mended({"$ref": "#/$defs/a", "maximum": 3}, "5", a=INTEGER) == "5"
    assert mended({"$ref": "#/$defs/a", "maximum": 9}, "5", a=INTEGER) == 5


def test_keys_are_found_by_pattern_and_by_default() -> None:
    schema = {"type": "object", "patternProperties": {"^n_": INTEGER}, "additionalProperties": BOOLEAN}
    assert mended(schema, {"n_a": "1", "b": "true"}) == {"n_a": 1, "b": True}


def test_null_is_left_out_only_where_it_is_optional_and_not_allowed() -> None:
    properties = {"a": INTEGER, "b": INTEGER, "c": {"type": ["integer", "null"]}}
    schema = {"type": "object", "properties": properties, "required": ["b"], "minProperties": 1}
    assert mended(schema, {"a": None, "b": 1, "c": None}) == {"b": 1, "c": None}
    assert mended(schema, {"a": 1, "b": None}) == {"a": 1, "b": None}


def test_a_stray_key_stays_where_the_schema_is_open() -> None:
    schema = {"type": "object", "properties": {"a": INTEGER}}
    assert mended(schema, {"a": "1", "b": 2}) == {"a": 1, "b": 2}
    assert mended({**schema, **CLOSED}, {"a": "1", "b": 2}) == {"a": 1}
    assert mended({**schema, **CLOSED, "patternProperties": {"^b": {}}}, {"a": "1", "b": 2}) == {"a": 1, "b": 2}


def test_a_key_that_another_part_of_the_schema_may_speak_of_stays() -> None:
    schema = {
        "type": "object",
        "properties": {"a": INTEGER},
        "if": {"required": ["b"]},
        "then": {"properties": {"b": INTEGER}},
        "unevaluatedProperties": False,
    }
    assert mended(schema, {"a": "1", "b": 2}) == {"a": 1, "b": 2}


def test_a_key_is_respelt_only_if_one_property_can_be_meant() -> None:
    schema = {"type": "object", "properties": {"maxResults": INTEGER, "q": STRING}, **CLOSED}
    assert mended(schema, {"max_results": "5", "Q": "x"}) == {"maxResults": 5, "q": "x"}
    assert mended(schema, {"max_results": 5, "MaxResults": 6}) == {}
    assert mended(schema, {"maxResults": 1, "max_results": 2}) == {"maxResults": 1}


def test_a_value_that_is_deep_inside_is_mended_and_deeper_still_only_checked() -> None:
    inner = {"$ref": "#/$defs/deep"}
    deep = {"anyOf": [INTEGER, {"type": "array", "items": inner}]}

    def nested(depth: int, value: Any) -> Any:
        for _ in range(depth):
            value = [value]
        return value

    assert mended(inner, nested(20, "5"), deep=deep) == nested(20, 5)
    assert mended(inner, nested(100, "5"), deep=deep) == nested(100, "5")
    assert mended(inner, nested(100, 5), deep=deep) == nested(100, 5)


def test_unions_of_unions_end() -> None:
    kinds = [{"type": kind, "maximum": 3, "minItems": 9} for kind in ("integer", "boolean", "null", "array")]
    assert mended({"allOf": [{"anyOf": kinds} for _ in range(20)]}, "x") == "x"


@pytest.mark.parametrize(
    ("members", "value"),
    [
        ([["a", "b"], "x"], ""),
        ([{"k": 1}, "x"], "  "),
        ([[1]], "''"),
        (["null", "int"], None),
        (["1.1", "1.10"], 1.1),
        ([""], None),
    ],
)
def test_no_member_of_an_enumeration_is_invented(members: list[Any], value: Any) -> None:
    found = repair({"x": value}, {"type": "object", "properties": {"x": {"enum": members}}, "required": ["x"]})
    assert found.arguments == {"x": value}
    assert not found.repairs
    assert found.errors


@pytest.mark.parametrize(("key", "name"), [("-", "+"), ("c#", "c++"), ("c", "c++"), ("_", "-"), ("", "_")])
def test_a_key_that_is_another_one_is_not_taken_for_it(key: str, name: str) -> None:
    found = repair({key: 5}, {"type": "object", "properties": {name: {"type": "number"}}, "required": [name]})
    assert found.arguments == {key: 5}
    assert found.errors
