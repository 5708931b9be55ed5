"""Regular expressions for engines: never looser than they were, and never endless."""

from __future__ import annotations

import re

import hypothesis
import pytest
from hypothesis import strategies as st

from callgate.gate.emulation.expressions import bounded, lengths, within
from callgate.gate.emulation.formats import FORMATS
from callgate.gate.emulation.patterns import read_expression
from callgate.gate.emulation.schema_text import pattern_of
from tests.gate.emulation.shaped import PATTERNS, spelt


@hypothesis.given(PATTERNS, st.data())
def test_what_it_writes_matches_the_pattern(pattern: str, data: st.DataObject) -> None:
    expression = read_expression(pattern)
    assert expression is not None
    written = data.draw(spelt(bounded(expression, 20)))
    assert re.search(pattern, written)
    assert re.fullmatch(pattern_of(bounded(expression, 20)), written)


@hypothesis.given(st.text("ab^$()[]{}|*+?\\-.,0129dwxu", max_size=25), st.data())
def test_any_text_is_read_or_refused_and_what_is_read_is_held(pattern: str, data: st.DataObject) -> None:
    expression = read_expression(pattern)
    if expression is None:
        return
    try:
        original = re.compile(pattern)
    except (re.error, OverflowError):
        return  # more lenient than Python, as other readers of patterns are
    limited = bounded(expression, 3)
    hypothesis.assume(lengths(limited)[1] < 300)
    written = data.draw(spelt(limited))
    assert original.search(written)
    assert lengths(limited)[0] <= len(written) <= lengths(limited)[1]


@pytest.mark.parametrize(
    "pattern", ["(?=a)b", r"(a)\1", r"\p{L}", "a^b", "(^a)", "a{5000}", '^"$', "[", "(", "a**", "(" * 99]
)
def test_what_a_grammar_cannot_hold_is_not_read(pattern: str) -> None:
    assert read_expression(pattern) is None


def test_lengths_are_kept_where_they_can_be() -> None:
    expression = read_expression("^[a-z]+$")
    assert expression is not None
    assert lengths(within(expression, 3, 10)) == (3, 10)
    assert lengths(within(expression, 0, 1)) == (1, 1)


@hypothesis.given(st.sampled_from(sorted(FORMATS)), st.data())
def test_formats_are_valid_for_those_who_check_them(name: str, data: st.DataObject) -> None:
    import jsonschema_rs

    written = data.draw(spelt(FORMATS[name]))
    validator = jsonschema_rs.validator_for({"type": "string", "format": name}, validate_formats=True)
    assert validator.is_valid(written), written
