"""Schemas made one."""

from __future__ import annotations

from callgate.gate.emulation.joining import joined


def test_bounds_get_narrower() -> None:
    assert joined({"minimum": 1, "maximum": 9}, {"minimum": 3, "maximum": 12}) == {"minimum": 3, "maximum": 9}


def test_required_properties_add_up_and_shared_ones_hold_both() -> None:
    one = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    other = {"properties": {"a": {"minLength": 2}, "b": {}}, "required": ["b", "a"]}
    assert joined(one, other) == {
        "properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 2}]}, "b": {}},
        "required": ["a", "b"],
    }


def test_types_and_values_are_those_of_both() -> None:
    assert joined({"type": ["string", "null"]}, {"type": "string"}) == {"type": ["string"]}
    assert joined({"type": "number"}, {"type": "integer"}) == {"type": ["integer"]}
    assert joined({"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}) == {"enum": [2, 3]}


def test_options_of_both_have_to_hold() -> None:
    both = joined({"anyOf": [{"type": "string"}]}, {"anyOf": [{"minLength": 2}]})
    assert both == {"anyOf": [{"type": "string"}], "allOf": [{"anyOf": [{"minLength": 2}]}]}


def test_closed_stays_closed() -> None:
    assert joined({"additionalProperties": True}, {"additionalProperties": False}) == {"additionalProperties": False}
