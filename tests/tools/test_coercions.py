from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools.coercions import NOTHING, boolean_in, folded_key, folded_text, null_in, number_in, text_of


@pytest.mark.parametrize(
    ("text", "whole", "number"),
    [
        ("5", True, 5),
        (" 5 ", True, 5),
        ("-5", True, -5),
        ("+5", True, 5),
        ("\u22125", True, -5),
        ("007", True, 7),
        ("5.0", True, 5),
        ("5.0", False, 5.0),
        ("5", False, 5),
        (".5", False, 0.5),
        ("1e3", True, 1000),
        ("5.5", True, None),
        ("123456789012345678901234567890", True, 123456789012345678901234567890),
        ("1e300", True, None),
        ("1e300", False, 1e300),
        ("1e-400", True, None),
        ("1e-400", False, None),
        ("1e-99999999999999999999", True, None),
        ("1e99999999999999999999", False, None),
        ("0.0", True, 0),
        ("9007199254740993.0", True, 9007199254740993),
        ("9007199254740993.0", False, 9007199254740993),
        ("9007199254740993.5", True, None),
        ("1,000", True, None),
        ("1.000", True, None),
        ("10,000", True, None),
        ("-10.000", True, None),
        ("1,000", False, None),
        ("1.000", False, 1.0),
        ("1,000,000", True, 1000000),
        ("1.000.000", True, 1000000),
        ("1 000", True, 1000),
        ("1000.000", True, 1000),
        ("5.00", True, 5),
        ("1e999", False, None),
        ("nan", False, None),
        ("Infinity", False, None),
        ("0x1F", True, None),
        ("", True, None),
        ("five", True, None),
        ("5 km", False, None),
        ("5%", False, None),
        ("$5", False, None),
        ("٥", True, None),
        ("1,234,567", False, 1234567),
        ("1.234.567", True, 1234567),
        ("1,234.5", False, 1234.5),
        ("1.234,5", False, 1234.5),
        ("1,234.567", False, 1234.567),
        ("3,14", False, 3.14),
        ("3,14", True, None),
        ("0,123", False, 0.123),
        ("1,234", False, None),
        ("1,234", True, 1234),
        ("1.234", False, 1.234),
        ("1.234", True, None),
        ("1 234 567", False, 1234567),
        ("1\u202f234,5", False, 1234.5),
        ("1'234'567", True, 1234567),
        ("1_000_000", True, 1000000),
        ("12,34,567", True, None),
        ("1,,234", True, None),
        ("1,234,56", True, None),
        ("-1,234,567", True, -1234567),
        ("1, 2, 3", False, None),
        ("1,2,3", False, None),
        ("9" * 401, True, None),
    ],
)
def test_a_text_is_a_number_where_it_can_be_only_one(text: str, whole: bool, number: float | None) -> None:
    found = number_in(text, whole=whole)
    assert found is NOTHING if number is None else (found == number and type(found) is type(number))


@given(st.integers(), st.booleans())
def test_any_whole_number_comes_back_from_its_text(number: int, whole: bool) -> None:
    assert number_in(str(number), whole=whole) == number
    assert number_in(f"{number:_}", whole=True) == number
    if abs(number) >= 1_000_000:
        assert number_in(f"{number:,}", whole=whole) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_comes_back_from_its_text(number: float) -> None:
    assert number_in(str(number), whole=False) == number


@given(st.text(), st.booleans())
def test_no_text_is_too_strange_to_be_asked(text: str, whole: bool) -> None:
    found = number_in(text, whole=whole)
    assert found is NOTHING or isinstance(found, int | float)


def test_only_true_and_false_are_booleans() -> None:
    assert boolean_in(" True ") is True
    assert boolean_in("FALSE") is False
    for text in ("yes", "no", "1", "0", "on", ""):
        assert boolean_in(text) is NOTHING


def test_null_and_none_are_null() -> None:
    assert null_in("null") is None
    assert null_in(" None") is None
    assert null_in("") is NOTHING


def test_only_a_whole_number_still_looks_as_it_was_written() -> None:
    assert text_of(713) == "713"
    for value in (1.1, True, None, [1]):
        assert text_of(value) is NOTHING


def test_spellings_that_mean_the_same_fold_into_the_same() -> None:
    assert folded_text(" New   YORK\n") == folded_text("new york") == folded_text('"New York"')
    assert folded_text(5) == folded_text("5") == folded_text(5.0)
    assert folded_text(True) == folded_text("TRUE")
    assert folded_key("maxResults") == folded_key("max_results") == folded_key("MAX-RESULTS")


def test_what_means_something_else_folds_into_something_else() -> None:
    assert folded_text(["a"]) == folded_text({}) == folded_text("''") == ""
    assert folded_key("-") == folded_key("+") == folded_key("1") == ""
    assert len({folded_key(key) for key in ("c", "c++", "c#", "v1_2", "v12")}) == 5
