from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools.simplifying import DEEPEST, MOST_PARTS, simplified

SURVIVES = {"anyOf", "type", "items", "description", "enum", "properties", "required"}


def of_property(schema: object, **definitions: object) -> Any:
    root = {"type": "object", "properties": {"x": schema}, "$defs": definitions}
    return simplified(root)["properties"]["x"]


@pytest.mark.parametrize(
    ("schema", "simple"),
    [
        ({"const": "a"}, {"enum": ["a"]}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (True, {}),
        (
            {
                "allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}],
                "properties": {"b": {}},
            },
            {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]},
        ),
        ({"$ref": "#/$defs/y", "description": "mine"}, {"description": "mine", "type": "integer"}),
        ({"type": "array", "prefixItems": [{"type": "string"}] * 2}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "items": [{"type": "string"}, {"const": 1}]},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"enum": [1]}]}},
        ),
        ({"$ref": "elsewhere.json"}, {}),
        ({"$ref": "#/$defs/none"}, {}),
        ({"title": "X", "type": "string"}, {"type": "string"}),
    ],
)
def test_what_can_not_be_carried_is_said_with_what_can(schema: object, simple: object) -> None:
    assert of_property(schema, y={"type": "integer", "description": "theirs"}) == simple


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"description": "Days.", "minimum": 1, "maximum": 14, "default": 7}, "Days. (1 to 14, default 7)"),
        ({"exclusiveMinimum": 0, "multipleOf": 5}, "(more than 0, a multiple of 5)"),
        ({"maximum": 3}, "(at most 3)"),
        ({"minItems": 2, "maxItems": 2, "uniqueItems": True}, "(2 items, each only once)"),
        ({"minLength": 1, "maxLength": 9}, "(1 to 9 characters)"),
        ({"format": "date", "pattern": "^2"}, "(format date, must match ^2)"),
        ({"additionalProperties": {"type": "number"}}, "(values of type number)"),
        ({"default": None}, None),
        ({"default": "x" * 500, "pattern": "x" * 500}, None),
        ({"minimum": True, "format": 3, "description": 4}, None),
    ],
)
def test_what_can_not_be_carried_at_all_is_said_in_words(schema: object, words: str | None) -> None:
    assert of_property(schema).get("description") == words


def test_what_refers_to_itself_is_cut() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    assert of_property({"$ref": "#/$defs/node"}, node=node) == {
        "type": "object",
        "properties": {"next": {"type": "object", "properties": {"next": {"type": "object"}}}},
    }
    assert of_property({"$ref": "#/$defs/a"}, a={"$ref": "#/$defs/b"}, b={"$ref": "#/$defs/a"}) == {"type": "object"}
    assert simplified({"$ref": "#"}) == {"type": "object", "properties": {}}


def test_references_that_multiply_come_to_an_end() -> None:
    levels = 60
    definitions = {
        f"d{level}": {"properties": {name: {"$ref": f"#/$defs/d{level + 1}"} for name in "abc"}}
        for level in range(levels)
    }
    size = len(msgspec.json.encode(of_property({"$ref": "#/$defs/d0"}, **definitions)))
    assert size < MOST_PARTS * 100


def test_depth_comes_to_an_end() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(DEEPEST * 3):
        schema = {"type": "array", "items": schema}
    depth, part = 0, of_property(schema)
    while "items" in part:
        depth, part = depth + 1, part["items"]
    assert depth == DEEPEST - 1


def test_alternatives_at_the_root_become_one_object() -> None:
    schema = {
        "anyOf": [{"$ref": "#/$defs/a"}, {"properties": {"k": {"type": "integer"}}, "required": ["k"]}],
        "$defs": {"a": {"properties": {"k": {"type": "string"}, "l": {}}, "required": ["l", "k"]}},
    }
    assert simplified(schema) == {
        "type": "object",
        "properties": {"k": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "l": {}},
        "required": ["k"],
    }


KEYS = [
    *SURVIVES,
    "allOf",
    "oneOf",
    "$ref",
    "$defs",
    "const",
    "prefixItems",
    "default",
    "minimum",
    "format",
    "maxItems",
]
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["#", "#/properties/a", "#/$defs/a", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, "a"]), inner, max_size=4),
    max_leaves=20,
)


def unknown_keys(part: object) -> set[str]:
    if not isinstance(part, dict) or not part:
        return set()
    found = part.keys() - SURVIVES
    for inner in (part.get("items", {}), *part.get("anyOf", ()), *part.get("properties", {}).values()):
        found |= unknown_keys(inner)
    return found


@given(st.dictionaries(st.sampled_from([*KEYS, "a"]), anything, max_size=5))
def test_of_whatever_comes_only_what_survives_is_left(schema: dict[str, Any]) -> None:
    simple = simplified(schema)
    assert simple["type"] == "object"
    assert not unknown_keys(simple)
    assert simplified(simple) == simple
