from __future__ import annotations

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.openapi.shapes import shape_of
from tests.gateway.openapi.test_describing import JSONS


@given(st.lists(JSONS, min_size=1, max_size=4))
def test_samples_fit_the_shape_that_was_learnt_from_them(samples: list[object]) -> None:
    shape = jsonschema_rs.Draft202012Validator(shape_of(samples))
    assert all(shape.is_valid(sample) for sample in samples)


def test_a_shape_says_what_is_in_all_of_them() -> None:
    assert shape_of([{"a": 1, "b": None}, {"a": 0.5, "c": ["x"]}, {"a": 2}]) == {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {}, "c": {"type": "array", "items": {"type": "string"}}},
        "required": ["a"],
    }
