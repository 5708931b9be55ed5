"""Numbers within bounds."""

from __future__ import annotations

import re
from fractions import Fraction

import hypothesis
from hypothesis import strategies as st

from callgate.gate.emulation.numerals import GREATEST, number, whole_expression, whole_number
from callgate.gate.emulation.schema_text import pattern_of
from callgate.gate.emulation.shapes import Literals, Numeral, Whole
from tests.gate.emulation.shaped import spelt

BOUNDS = st.none() | st.fractions(-200, 200, max_denominator=100)


@hypothesis.given(st.integers(-10_000, 10_000), st.integers(0, 10_000), st.integers(-25_000, 25_000))
def test_exactly_the_whole_numbers_in_a_range_are_written(low: int, width: int, other: int) -> None:
    pattern = pattern_of(whole_expression(low, low + width))
    for value in (low, low + width, low + width // 2, low - 1, low + width + 1, other):
        assert bool(re.fullmatch(pattern, str(value))) == (low <= value <= low + width)


@hypothesis.given(BOUNDS, BOUNDS, st.booleans(), st.booleans(), st.data())
def test_numbers_are_in_their_range(
    low: Fraction | None, high: Fraction | None, above: bool, below: bool, data: st.DataObject
) -> None:
    shape = number(low, high, above=above and low is not None, below=below and high is not None)
    if shape is None:
        assert low is not None
        assert high is not None
        assert high - low < Fraction(1, 10**6)
        return
    if isinstance(shape, Literals):
        written = Fraction(str(data.draw(st.sampled_from(shape.values))))
    else:
        assert isinstance(shape, Numeral)
        written = Fraction(data.draw(spelt(shape.expression)))
    assert low is None or (written > low if above else written >= low)
    assert high is None or (written < high if below else written <= high)


@hypothesis.given(st.fractions(0, 100, max_denominator=1000))
def test_fractions_can_be_written(value: Fraction) -> None:
    shape = number(Fraction(0), Fraction(100))
    assert isinstance(shape, Numeral)
    spelling = f"{float(value):.3f}" if value < 100 else "100"
    assert re.fullmatch(pattern_of(shape.expression), spelling)


def test_multiples_are_listed() -> None:
    assert number(Fraction(0), Fraction(1), step=Fraction(1, 4)) == Literals((0, 0.25, 0.5, 0.75, 1))
    assert whole_number(1, 20, Fraction(5)) == Literals((5, 10, 15, 20))
    many = whole_number(None, None, Fraction(7))
    assert isinstance(many, Literals)
    assert len(many.values) == 64
    assert not [value for value in many.values if value % 7]


def test_an_empty_range_has_none() -> None:
    assert whole_number(3, 2) is None
    assert number(Fraction(3), Fraction(2)) is None
    assert whole_number(5, 5) == Whole(5, 5)
    assert whole_number(None, None) == Whole(-GREATEST, GREATEST)
    assert whole_number(GREATEST * 5, None) == Whole(GREATEST * 5, GREATEST * 5)
