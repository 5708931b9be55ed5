from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate import ExpectedCall
from callgate.validate.judging_arguments import are_right, are_same

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 3},
        "level": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "path": {"type": "array", "items": {"type": "string"}},
        "unit": {"type": ["string", "null"]},
        "place": {"type": "object", "properties": {"floor": {"type": "integer", "default": 0}, "room": {}}},
    },
    "required": ["city"],
}


def right(expected: dict[str, Any], got: dict[str, Any], **more: Any) -> bool:
    return are_right(ExpectedCall(name="x", arguments=expected, **more), got, SCHEMA)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ({"city": "Rome", "level": 5}, {"city": "Rome", "level": 5.0}),
        ({"city": "Rome"}, {"level": None, "city": "Rome"}),
        ({"city": "Rome", "days": 3}, {"city": "Rome"}),
        ({"city": "Rome"}, {"city": "Rome", "days": 3}),
        ({"city": "Rome"}, {"city": " Rome "}),
        ({"city": "Zu\u0308rich"}, {"city": "Z\u00fcrich"}),
        ({"city": "Rome", "tags": ["a", "b"]}, {"city": "Rome", "tags": ["b", "a"]}),
        ({"city": "Rome", "place": {"room": 1}}, {"city": "Rome", "place": {"room": 1, "floor": 0}}),
        ({"city": "Rome"}, {"city": "Rome", "unit": None}),
    ],
)
def test_what_means_the_same_is_right(expected: dict[str, Any], got: dict[str, Any]) -> None:
    assert right(expected, got)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ({"city": "Rome"}, {}),
        ({"city": "Rome"}, {"city": "rome"}),
        ({"city": "Rome"}, {"city": "Rome", "days": 4}),
        ({"city": "Rome"}, {"city": "Rome", "unit": "celsius"}),
        ({"city": "Rome", "days": 4}, {"city": "Rome"}),
        ({"city": "Rome", "level": 1}, {"city": "Rome", "level": True}),
        ({"city": "Rome", "level": 5}, {"city": "Rome", "level": "5"}),
        ({"city": "Rome", "path": ["a", "b"]}, {"city": "Rome", "path": ["b", "a"]}),
        ({"city": "Rome", "tags": ["a", "b"]}, {"city": "Rome", "tags": ["a", "a"]}),
        ({"city": "Rome", "tags": ["a"]}, {"city": "Rome", "tags": ["a", "b"]}),
        ({"city": "Rome", "place": {"room": 1}}, {"city": "Rome", "place": {"room": 1, "floor": 2}}),
    ],
)
def test_what_means_something_else_is_wrong(expected: dict[str, Any], got: dict[str, Any]) -> None:
    assert not right(expected, got)


def test_a_case_may_accept_other_values() -> None:
    assert right({"city": "Rome"}, {"city": "Roma"}, accept={"city": ("Roma", "Rome, Italy")})
    assert not right({"city": "Rome"}, {"city": "Oslo"}, accept={"city": ("Roma",)})


def test_a_case_may_name_what_may_be_there_or_not() -> None:
    optional = {"unit": ("celsius", "C")}
    assert right({"city": "Rome"}, {"city": "Rome"}, optional=optional)
    assert right({"city": "Rome"}, {"city": "Rome", "unit": "C"}, optional=optional)
    assert not right({"city": "Rome"}, {"city": "Rome", "unit": "kelvin"}, optional=optional)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_everything_is_the_same_as_itself(value: Any) -> None:
    assert are_same(value, value)


@given(VALUES, VALUES)
def test_it_does_not_matter_which_of_two_comes_first(one: Any, other: Any) -> None:
    assert are_same(one, other) == are_same(other, one)


def test_an_argument_that_the_tool_does_not_have_is_wrong_even_without_a_value() -> None:
    assert right({"city": "Rome"}, {"city": "Rome", "unit": None})
    assert not right({"city": "Rome"}, {"city": "Rome", "made_up": None})
