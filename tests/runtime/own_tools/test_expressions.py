from __future__ import annotations

import math
import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.own_tools.calculator import calculate, written
from callgate.runtime.own_tools.expressions import MOST_BITS, NoExpression, evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1+2*3", "7"),
        ("2*3^2", "18"),
        ("-2^2", "-4"),
        ("2^3^2", "512"),
        ("2^-1", "0.5"),
        ("2--3", "5"),
        ("-7 % 3", "2"),
        ("7 // 2", "3"),
        ("0.1 + 0.2", "0.3"),
        ("1_000 × 1.5", "1500"),
        ("10 / 4", "2.5"),
        ("1 / 3", "0.3333333333333333"),
        ("-1 / 8", "-0.125"),
        ("5! - 3!!", "-600"),
        ("√9 + sqrt(16)", "7"),
        ("sqrt(2)", "1.4142135623730951"),
        ("2^0.5", "1.4142135623730951"),
        ("sin(pi / 2)", "1"),
        ("round(2.675, 2)", "2.68"),
        ("round(-2.5)", "-3"),
        ("max(1, 2, comb(4, 2))", "6"),
        ("gcd(12, 18) + lcm(4, 6)", "18"),
        ("1e3", "1000"),
        (".5 + 5.", "5.5"),
        ("1e-300 * 1e-300", "about 10^-600"),
        ("99999999999 * 99999999999", "9999999999800000000001"),
    ],
)
def test_arithmetic_is_worked_out(text: str, value: str) -> None:
    assert calculate(text).content == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a number is missing"),
        ("1 +", "a number is missing at the end"),
        ("(1", r"'\)' is missing"),
        ("1)", "isn't expected"),
        ("2(3)", "isn't expected"),
        ("1,000", "without any"),
        ("1 / 0", "division by zero"),
        ("0 ^ -1", "division by zero"),
        ("9**9**9**9", "too large"),
        ("1e401", "too long"),
        ("2^12001", "too large"),
        ("exp(1000)", "too large"),
        ("log(0)", "out of range"),
        ("(-8)^(1/3)", "isn't real"),
        ("2000!", "0 to 1000"),
        ("0.5!", "whole numbers"),
        ("sqrt(1, 2)", "doesn't take 2"),
        ("__import__('os')", "no part of arithmetic"),
        ("os + 1", "no number, function"),
        ("(" * 1000, "nested deeper"),
        ("-" * 1000 + "1", "nested deeper"),
        ("1" * 3000, "longer than"),
    ],
)
def test_what_cannot_be_worked_out_says_why(text: str, why: str) -> None:
    with pytest.raises(NoExpression, match=why):
        evaluate(text)
    assert calculate(text).is_error


@given(st.text(alphabet="0123456789.+-*/%^!(), esqrtpi_", max_size=60) | st.text(max_size=60))
def test_any_text_is_a_number_or_none(text: str) -> None:
    try:
        value = evaluate(text)
    except NoExpression:
        return
    if isinstance(value, float):
        assert math.isfinite(value)
    else:
        assert value.numerator.bit_length() <= MOST_BITS
    assert written(value).isascii()


numbers = st.integers(0, 10**6) | st.decimals(0, 10**6, places=4)


@given(numbers, st.sampled_from("+-*/"), numbers, st.sampled_from("+-"), numbers)
def test_whole_numbers_and_decimals_are_exact(a: object, first: str, b: object, second: str, c: object) -> None:
    work = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
    x, y, z = (Fraction(str(number)) for number in (a, b, c))
    if first == "/" and not y:
        return
    assert evaluate(f"({a} {first} {b}) {second} {c}") == work[second](work[first](x, y), z)


@given(st.fractions(max_denominator=10**6))
def test_what_is_written_is_near(value: Fraction) -> None:
    assert abs(Fraction(written(value)) - value) <= abs(value) * Fraction(1, 10**15)
