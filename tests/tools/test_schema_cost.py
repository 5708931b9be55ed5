from __future__ import annotations

from typing import Any

import pytest

from callgate.tools import repair
from callgate.tools.schema_cost import MOST_CHECKS, checks_for
from callgate.tools.schema_graph import Graph
from callgate.vocabulary import UsageError


def chain(length: int, link: Any) -> dict[str, Any]:
    """Definitions that each lead to the next one, in the way that `link` makes of a reference."""
    defs = {f"d{n}": link({"$ref": f"#/$defs/d{n + 1}"}) for n in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{length}": {"type": "string"}}}


def everyone(count: int, keyword: str) -> dict[str, Any]:
    """Definitions that each lead to all others on the spot."""
    defs = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{m}"} for m in range(count) if m != n]} for n in range(count)}
    return {"$ref": "#/$defs/d0", "$defs": defs}


def looking_back(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {"a": True}, "unevaluatedProperties": False}
    for _ in range(depth):
        schema = {"anyOf": [schema], "unevaluatedProperties": False}
    return schema


def by_name(length: int) -> dict[str, Any]:
    defs = {
        f"d{n}": {"$anchor": f"d{n}", "anyOf": [{"$ref": f"#d{n + 1}"}, {"$ref": f"#d{n + 1}"}]} for n in range(length)
    }
    return {"$ref": "#d0", "$defs": {**defs, f"d{length}": {"$anchor": f"d{length}", "type": "string"}}}


@pytest.mark.parametrize(
    "schema",
    [
        chain(40, lambda ref: {"anyOf": [ref, ref]}),
        chain(40, lambda ref: {"allOf": [ref, {"not": ref}]}),
        chain(40, lambda ref: {"items": {"anyOf": [ref, ref]}}),
        chain(40, lambda ref: {"patternProperties": {"a": ref, "b": ref}}),
        chain(2000, lambda ref: ref),
        chain(2000, lambda ref: {"items": ref}),
        everyone(12, "allOf"),
        everyone(12, "anyOf"),
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        looking_back(30),
        by_name(40),
    ],
)
def test_a_schema_that_multiplies_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        repair({"a": 1}, schema)


JSON = {
    "anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "items": {"$ref": "#/$defs/json"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
    ]
}
EXPRESSION = {
    "oneOf": [
        {
            "properties": {"op": {"const": op}, "l": {"$ref": "#/$defs/e"}, "r": {"$ref": "#/$defs/e"}},
            "required": ["op"],
        }
        for op in "+-*/^"
    ]
}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"$ref": "#"},
        {"type": "object", "properties": {f"p{n}": {"$ref": "#/$defs/a"} for n in range(1000)}, "$defs": {"a": {}}},
        {"$ref": "#/$defs/json", "$defs": {"json": JSON}},
        {"$ref": "#/$defs/e", "$defs": {"e": EXPRESSION}},
        chain(10, lambda ref: {"anyOf": [ref, ref]}),
        chain(200, lambda ref: {"properties": {"a": ref, "b": ref}}),
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"$dynamicAnchor": "node", "properties": {"child": {"$dynamicRef": "#node"}}},
    ],
)
def test_a_schema_that_only_repeats_itself_is_taken(schema: Any) -> None:
    assert checks_for(Graph(schema)) <= MOST_CHECKS
    repair({"a": 1}, schema)


def test_what_is_recursive_is_validated_deep_down() -> None:
    value: Any = 1
    for _ in range(90):
        value = {"op": "^", "l": value}
    schema = {"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [{"type": "number"}, {"type": "object", **EXPRESSION}]}}}
    assert repair(value, schema).errors == ()
    assert repair({"op": "+", "l": "x"}, schema).errors == ("`/l` must be a number or an object",)
