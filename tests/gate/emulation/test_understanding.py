"""What is written for an engine's sake is read back as what it means."""

from __future__ import annotations

import re

import hypothesis
from hypothesis import strategies as st

from callgate.gate.emulation.expressions import bounded
from callgate.gate.emulation.matching import is_spelt
from callgate.gate.emulation.numerals import ANY_NUMBER
from callgate.gate.emulation.patterns import read_expression
from callgate.gate.emulation.shapes import Choice, Entries, Literals, Rows, Spelt, Words
from callgate.gate.emulation.understanding import understood
from tests.gate.emulation.shaped import PATTERNS, spelt

PAIRS = [{"key": "a", "value": "1"}, {"key": "b", "value": "2.50"}]


def test_a_spelt_number_is_a_number() -> None:
    assert understood(ANY_NUMBER, "2.50") == 2.5
    assert understood(ANY_NUMBER, "-7") == -7
    assert understood(ANY_NUMBER, "none") == "none"


def test_pairs_are_an_object() -> None:
    assert understood(Entries(Words(1, 5), ANY_NUMBER, 0, 5), PAIRS) == {"a": 1, "b": 2.5}


def test_what_may_be_a_text_stays_a_text() -> None:
    assert understood(Choice((ANY_NUMBER, Words(0, 9))), "00713") == "00713"
    assert understood(Choice((ANY_NUMBER, Words(0, 9))), "5") == "5"
    letters = read_expression("^[a-z]+$")
    assert letters is not None
    assert understood(Choice((ANY_NUMBER, Spelt(letters))), "5") == 5


def test_an_array_that_looks_like_pairs_stays_one_where_it_may_be_nothing_else() -> None:
    assert understood(Rows(Entries(Words(1, 5), Words(0, 5), 0, 5), 0, 5), [PAIRS]) == [{"a": "1", "b": "2.50"}]
    assert understood(Words(0, 5), PAIRS) == PAIRS


def test_doubles_are_left_out_where_there_may_be_none() -> None:
    letters = Literals(("a", "b"))
    assert understood(Rows(letters, 0, 5, True), ["a", "b", "a"]) == ["a", "b"]
    assert understood(Rows(letters, 0, 5), ["a", "a"]) == ["a", "a"]


@hypothesis.given(PATTERNS, st.data())
def test_texts_are_told_by_their_spelling(pattern: str, data: st.DataObject) -> None:
    expression = read_expression(pattern)
    assert expression is not None
    limited = bounded(expression, 10)
    assert is_spelt(limited, data.draw(spelt(limited)))
    other = data.draw(st.text("aZ09-@.#", max_size=8))
    if is_spelt(limited, other):
        assert re.search(pattern, other)


def test_a_pattern_that_explodes_takes_no_time() -> None:
    bomb = read_expression("^((a+)+)+$")
    assert bomb is not None
    assert not is_spelt(bounded(bomb, 64), "a" * 1999 + "!")
