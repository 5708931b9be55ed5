"""Anything can be shown, and nothing is too long."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from callgate.validate.shown_json import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([-1, 2]))
def test_what_is_short_enough_is_shown_as_it_is(value: object, indent: int) -> None:
    assert json.loads(json_text(value, 1_000_000, indent=indent)) == value


def test_what_is_too_long_is_cut() -> None:
    assert json_text("a" * 100, 10) == '"aaaaaaaaa…'


def test_half_a_surrogate_pair_and_endless_nesting_do_no_harm() -> None:
    assert "ud800" in json_text({"x": "\ud800"}, 100)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert json_text(deep, 100) == "nested too deeply to be shown"
