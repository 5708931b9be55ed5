from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given

from callgate.tools.plain_values import NoPlainValue, plain, same
from tests.tools.schemas import values


@given(values)
def test_what_is_plain_stays_the_same_object(value: Any) -> None:
    assert plain(value).value is value


def test_size_counts_every_value() -> None:
    assert plain(5).size == 1
    assert plain({"a": 1, "b": "x"}).size == 3
    assert plain({"a": [1, 2, {"b": None}]}).size == 6


def test_kinds_of_what_json_has_become_that() -> None:
    class Colour(StrEnum):
        RED = "red"

    class Level(IntEnum):
        HIGH = 3

    found = plain({"a": (1, OrderedDict(b=Colour.RED)), "c": Level.HIGH}).value
    assert found == {"a": [1, {"b": "red"}], "c": 3}
    assert type(found["a"][1]) is dict
    assert type(found["a"][1]["b"]) is str
    assert type(found["c"]) is int


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {1: 2}, {"a": {2: 3}}, [float], {"a": 1j}])
def test_what_json_has_no_words_for_is_refused(value: Any) -> None:
    with pytest.raises(NoPlainValue):
        plain(value)


def test_in_json_true_is_not_one() -> None:
    assert same([1, {"a": 1.0}], [1.0, {"a": 1}])
    assert not same(True, 1)
    assert not same([0], [False])
    assert not same({"a": 1}, {"b": 1})
    assert not same(None, False)
