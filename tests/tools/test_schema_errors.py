from __future__ import annotations

from typing import Any

import pytest

from callgate.tools import repair


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"type": "integer"}, "x", "`/x` must be an integer"),
        ({"type": ["integer", "null"]}, "x", "`/x` must be an integer or null"),
        ({"enum": ["a", 5]}, "x", '`/x` must be one of "a", 5'),
        ({"const": "a"}, "x", '`/x` must be one of "a"'),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "x", "`/x` must be an integer or a boolean"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "`/x` must be an integer"),
        ({"type": "integer", "minimum": 3}, 2, "`/x` must be at least 3"),
        ({"type": "integer", "exclusiveMaximum": 3}, 3, "`/x` must be less than 3"),
        ({"type": "string", "minLength": 3}, "ab", "`/x` must have at least 3 characters"),
        ({"type": "string", "pattern": "^a"}, "b", '`/x` must match the pattern "^a"'),
        ({"type": "array", "minItems": 1}, [], "`/x` must have at least 1 items"),
        ({"type": "array", "uniqueItems": True}, [1, 1], "`/x` must have no item twice"),
        ({"type": "array", "items": {"type": "integer"}}, [1, "x"], "`/x/1` must be an integer"),
        ({"type": "object", "required": ["a/b"]}, {}, "`/x/a~1b` is missing"),
        (
            {"type": "object", "properties": {"y": {"enum": [1, 2]}}, "required": ["y"]},
            {},
            "`/x/y` is missing: one of 1, 2",
        ),
        ({"not": {"type": "string"}}, "x", "`/x` must be a value that the schema allows"),
        ({"$ref": "#/$defs/n"}, {"n": {"n": 1}}, "`/x/n/n` must be an object"),
        (
            {"oneOf": [{"minimum": 1}, {"maximum": 9}], "type": "integer"},
            5,
            "`/x` fits 2 of the alternatives, and must fit only one",
        ),
        (
            {"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "integer"}]},
            "x",
            '`/x` must be one of "a", "b" or an integer',
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
            [1, "x"],
            "`/x/1` must be an integer",
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "array", "maxItems": 0}]},
            "x",
            "`/x` must be an integer or an array",
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 2}]},
            "x",
            "`/x` must have at least 2 characters",
        ),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "`/x/a` is missing, or `/x/b` is missing"),
        (
            {"anyOf": [{"required": [name]} for name in "abcd"]},
            {},
            "`/x/a` is missing, or `/x` must fit another of 4 alternatives",
        ),
        ({"anyOf": [{"required": ["a", "b", "c"]}, {"required": ["d"]}]}, {}, "`/x/d` is missing"),
    ],
)
def test_a_model_is_told_what_to_do(schema: dict[str, Any], value: Any, sentence: str) -> None:
    node = {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}
    whole = {"type": "object", "properties": {"x": schema}, "$defs": {"n": node}}
    assert repair({"x": value}, whole).errors == (sentence,)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "string"}},
        "required": ["c"],
    }
    assert repair({"a": "x", "b": "y"}, schema).errors == (
        "`/c` is missing: a string",
        "`/a` must be an integer",
        "`/b` must be a boolean",
    )


def test_values_are_never_quoted() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"enum": ["x"]},
            "c": {"pattern": "^$"},
            "d": {"anyOf": [{"type": "null"}, {"const": 1}]},
            "e": {"not": {}},
            "f": {"type": "string", "maxLength": 1},
            "g": {"type": "array", "contains": {"type": "integer"}},
        },
    }
    found = repair(dict.fromkeys("abcdef", "hunter2 secret") | {"g": ["hunter2 secret"]}, schema)
    assert len(found.errors) == 7
    assert "hunter2" not in " ".join(found.errors)


def test_there_are_never_more_errors_than_a_model_could_read() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    assert len(repair({"a": ["x"] * 1000}, schema).errors) == 20


def test_long_enumerations_are_cut_short() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [f"value {n}" for n in range(50_000)]}}}
    (error,) = repair({"a": "x"}, schema).errors
    assert error.endswith('"value 19" …')


def test_a_schema_of_many_alternatives_within_alternatives_is_described_in_no_time() -> None:
    branch: dict[str, Any] = {"type": "object", "properties": {"l": {"$ref": "#/$defs/e"}, "r": {"$ref": "#/$defs/e"}}}
    schema = {"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [{**branch, "required": [c]} for c in "abcdefgh"]}}}
    value: dict[str, Any] = {}
    for _ in range(50):
        value = {"l": value, "r": value}
        if len(str(value)) > 10_000:
            break
    assert (
        repair(value, schema)
        .errors[0]
        .startswith("`/a` is missing, or the arguments must fit another of 8 alternatives")
    )


KINDS = [
    {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
    {
        "type": "object",
        "properties": {"kind": {"enum": ["b", "c"]}, "s": {"type": "string"}},
        "required": ["kind", "s"],
    },
]


@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, '`/v/kind` is missing: one of "a", "b", "c"'),
        ({"kind": "d", "n": 1}, '`/v/kind` must be one of "a", "b", "c"'),
        ({"kind": "a"}, "`/v/n` is missing: an integer"),
        ({"kind": "a", "n": "x"}, "`/v/n` must be an integer"),
        ({"kind": "c", "s": 1.5}, "`/v/s` must be a string"),
        (5, "`/v` must be an object"),
    ],
)
def test_the_branch_that_a_value_is_meant_for_is_the_one_that_complains(union: str, value: Any, sentence: str) -> None:
    schema = {"type": "object", "properties": {"v": {union: KINDS}}, "required": ["v"]}
    assert repair({"v": value}, schema).errors == (sentence,)


def test_a_union_is_never_said_to_ask_for_what_the_value_already_is() -> None:
    branches = [{"type": "object", "properties": {"v": {"$ref": "#"}, f"k{n}": {"type": "integer"}}} for n in range(8)]
    value: Any = "5"
    for _ in range(5):
        value = {"v": value}
    (error,) = repair(value, {"anyOf": branches}).errors
    assert error == f"`{'/v' * 5}` must be an object"
