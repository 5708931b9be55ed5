"""Calls are right or wrong by the leaderboard's rules, not by ours."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate.bfcl_data import Answer, Entry
from callgate.validate.bfcl_rules import judge_bfcl, normal
from callgate.vocabulary import ToolCall
from tests.validate.bfcl_samples import PAINT, PLAY, answer, entry

ENTRY = msgspec.convert(entry("x", "Well?", PAINT, PLAY), Entry)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def call(name: str = "shop.paint_needed", /, **arguments: Any) -> ToolCall:
    return ToolCall("1", name, arguments)


def kind(accepted: dict[str, list[Any]], **given_: Any) -> str | None:
    """Of the fault in a call of the one function, with a width that is right."""
    wanted = msgspec.convert(answer("x", {"shop.paint_needed": {"width": [4.0], **accepted}}), Answer)
    fault = judge_bfcl("simple", ENTRY, wanted, [call(width=4.0, **given_)])
    return fault.kind if fault else None


@pytest.mark.parametrize(
    ("accepted", "given_", "expected"),
    [
        ({"coats": [2]}, {"coats": 2}, None),
        ({"coats": [2]}, {"coats": 3}, "wrong-arguments"),
        ({"coats": [2]}, {"coats": 2.0}, "invalid-arguments"),
        ({"coats": [1]}, {"coats": True}, "invalid-arguments"),
        ({"coats": [2]}, {"coats": "2"}, "invalid-arguments"),
        ({"coats": [2]}, {}, "wrong-arguments"),
        ({"coats": ["", 2]}, {}, None),
        ({"coats": ["number_of_coats"]}, {"coats": "number_of_coats"}, None),
        ({"coats": ["number_of_coats"]}, {"coats": "NumberOfCoats"}, "wrong-arguments"),
        ({"primer": [True]}, {"primer": True}, None),
        ({"primer": [True]}, {"primer": 1}, "invalid-arguments"),
        ({"colour": ["sky blue"]}, {"colour": "Sky-Blue."}, None),
        ({"colour": ["sky blue"]}, {"colour": "sky"}, "wrong-arguments"),
        ({"colour": ["it's"]}, {"colour": 'it"s'}, None),
        ({"walls": [["North", "south"]]}, {"walls": ["north", "South"]}, None),
        ({"walls": [["North", "south"]]}, {"walls": ["south", "north"]}, "wrong-arguments"),
        ({"walls": [["north"]]}, {"walls": [1]}, "invalid-arguments"),
        ({"walls": ["", ["north"]]}, {"walls": []}, None),
        ({"size": [[4.0, 2.5]]}, {"size": [4.0, 2.5]}, None),
        ({"size": [[4.0, 2.5]]}, {"size": [4, 2.5]}, "invalid-arguments"),
        ({"size": [[4, 2]]}, {"size": [4, 2]}, None),
        ({"buyer": [{"name": ["Ann"], "age": ["", 7]}]}, {"buyer": {"name": "ANN"}}, None),
        ({"buyer": [{"name": ["Ann"], "age": ["", 7]}]}, {"buyer": {"name": "Ann", "age": 8}}, "wrong-arguments"),
        ({"buyer": [{"name": ["Ann"], "age": [7]}]}, {"buyer": {"name": "Ann"}}, "wrong-arguments"),
        ({"buyer": [{"name": ["Ann"]}]}, {"buyer": {"name": "Ann", "more": 1}}, "wrong-arguments"),
        ({"helpers": [[{"name": ["Ann"]}, {"name": ["Bob"]}]]}, {"helpers": [{"name": "ann"}, {"name": "bob"}]}, None),
        ({"helpers": [[{"name": ["Ann"]}]]}, {"helpers": [{"name": "bob"}]}, "wrong-arguments"),
        ({"helpers": [[{"name": ["Ann"]}]]}, {"helpers": []}, "wrong-arguments"),
        ({"helpers": ["", [{"name": ["Ann"]}]]}, {"helpers": ["ann"]}, "wrong-arguments"),
        ({}, {"coats": 2}, "invalid-arguments"),
        ({}, {"unheard_of": 2}, "invalid-arguments"),
    ],
)
def test_values_are_judged_by_type_and_by_what_is_accepted(
    accepted: dict[str, list[Any]], given_: dict[str, Any], expected: str | None
) -> None:
    assert kind(accepted, **given_) == expected


def test_an_integer_will_do_for_a_float_but_nothing_else() -> None:
    wanted = msgspec.convert(answer("x", {"shop.paint_needed": {"width": [4.0]}}), Answer)
    assert judge_bfcl("simple", ENTRY, wanted, [call(width=4)]) is None
    assert judge_bfcl("simple", ENTRY, wanted, [call(width="4.0")]) is not None
    assert judge_bfcl("simple", ENTRY, wanted, [call(width=True)]) is not None


def test_names_count_and_a_line_may_stand_for_a_dot() -> None:
    wanted = msgspec.convert(answer("x", {"shop.paint_needed": {"width": [4.0]}}), Answer)
    assert judge_bfcl("simple", ENTRY, wanted, [call("shop_paint_needed", width=4)]) is None
    fault = judge_bfcl("multiple", ENTRY, wanted, [call("play_song", title="x")])
    assert fault is not None
    assert fault.kind == "wrong-name"


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["Blue", "Red"], None),
        (["Red", "Blue"], None),
        (["Red"], "missing-call"),
        ([], "no-call"),
        (["Red", "Blue", "Blue"], "extra-call"),
        (["Red", "Red"], "wrong-arguments"),
    ],
)
def test_parallel_calls_may_come_in_any_order_but_all_of_them(titles: list[str], expected: str | None) -> None:
    wanted = msgspec.convert(answer("x", {"play_song": {"title": ["Blue"]}}, {"play_song": {"title": ["Red"]}}), Answer)
    fault = judge_bfcl("parallel", ENTRY, wanted, [call("play_song", title=title) for title in titles])
    assert (fault.kind if fault else None) == expected


def test_where_no_function_fits_any_call_is_wrong_and_where_one_does_any_is_right() -> None:
    assert judge_bfcl("irrelevance", ENTRY, None, []) is None
    assert judge_bfcl("irrelevance", ENTRY, None, [call()]) is not None
    assert judge_bfcl("live_relevance", ENTRY, None, [call()]) is None
    assert judge_bfcl("live_relevance", ENTRY, None, []) is not None


def test_arguments_that_are_no_object_are_wrong() -> None:
    wanted = msgspec.convert(answer("x", {"play_song": {"title": ["Blue"]}}), Answer)
    assert judge_bfcl("simple", ENTRY, wanted, [ToolCall("1", "play_song", "Blue")]) is not None


@given(st.text())
def test_normal_texts_have_none_of_what_is_ignored_and_stay_normal(text: str) -> None:
    assert not set(normal(text)) & set(" ,./-_*^'")
    # Some capitals, such as İ, become two letters, of which the second is a mark; those stay, too.
    assert normal(normal(text)) == normal(text)


@given(
    st.dictionaries(st.sampled_from([*PAINT["parameters"]["properties"], "zzz"]), JSON),  # type: ignore[index]
    st.dictionaries(
        st.sampled_from([*PAINT["parameters"]["properties"], "zzz"]),  # type: ignore[index]
        st.lists(JSON, max_size=3),
    ),
)
def test_any_arguments_against_any_answers_get_a_verdict(
    arguments: dict[str, Any], accepted: dict[str, list[Any]]
) -> None:
    wanted = Answer(id="x", ground_truth=[{"shop.paint_needed": accepted}])
    fault = judge_bfcl("simple", ENTRY, wanted, [call(**arguments)])
    if fault is None:
        assert arguments.keys() <= accepted.keys()
        assert all("" in values for name, values in accepted.items() if name not in arguments)
    assert judge_bfcl("parallel", ENTRY, wanted, [call(**arguments)]) == fault
