from __future__ import annotations

from typing import Any

import pytest

from callgate.tools import repair
from callgate.tools.unwrapping import WRAPPERS

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
ROME = {"city": "Rome"}


@pytest.mark.parametrize("wrapper", sorted(WRAPPERS))
def test_arguments_come_out_of_what_they_are_wrapped_in(wrapper: str) -> None:
    for given in (
        {wrapper: ROME},
        {"name": "weather", wrapper: ROME},
        {wrapper: '{"city": "Rome"}'},
        [{wrapper: [ROME]}],
    ):
        found = repair(given, SCHEMA)
        assert (found.arguments, found.errors) == (ROME, ())
        assert [(change.path, change.before, change.after, change.rule) for change in found.repairs] == [
            ("", given, ROME, "wrapped")
        ]


@pytest.mark.parametrize(
    "given",
    [
        [ROME],
        {"weather": ROME},
        {"function": {"name": "weather", "arguments": '{"city": "Rome"}'}},
        {"type": "function", "id": "1", "function": {"name": "weather", "arguments": ROME}},
        {"type": "object", "properties": ROME},
        {"arguments": {"input": ROME}},
    ],
)
def test_so_they_do_of_a_whole_call(given: Any) -> None:
    assert repair(given, SCHEMA).arguments == ROME


@pytest.mark.parametrize(
    "given",
    [
        [ROME, ROME],
        {"a": ROME, "b": ROME},
        {"arguments": ROME, "days": 3},
        {"arguments": {"town": "Rome"}},
        {"arguments": "Rome"},
        {"arguments": {"arguments": {"arguments": {"arguments": {"arguments": ROME}}}}},
        {"reason": "because", "arguments": ROME},
    ],
)
def test_what_may_be_something_else_stays(given: Any) -> None:
    found = repair(given, SCHEMA)
    assert found.arguments is given
    assert found.errors


def test_a_parameter_of_that_name_is_no_wrapper() -> None:
    schema = {
        "type": "object",
        "properties": {"input": {"type": "object"}, "city": {"type": "string"}},
        "required": ["city"],
    }
    assert repair({"input": {"city": "Rome"}}, schema).errors == ("`/city` is missing: a string",)


def test_what_is_wrapped_is_not_lost_as_a_stray_key() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}
    assert repair({"arguments": {"city": 5}}, schema).arguments == {"city": "5"}


def test_arguments_that_fit_are_not_unwrapped() -> None:
    open_to_all = {"type": "object", "properties": {"city": {"type": "string"}}}
    assert repair({"arguments": ROME}, open_to_all).arguments == {"arguments": ROME}


def test_parameters_may_be_those_of_a_branch() -> None:
    schema = {"anyOf": [SCHEMA, {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}]}
    assert repair({"args": {"lat": "1.5"}}, schema).arguments == {"lat": 1.5}
