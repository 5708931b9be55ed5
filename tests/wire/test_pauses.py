from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.wire.pauses import LONGEST_SECONDS, seconds_in


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("7", 7), (" 0 ", 0), ("9" * 60, LONGEST_SECONDS), ("", None), ("-3", None), ("soon", None), ("1.5", None)],
)
def test_seconds_are_taken_within_bounds(said: str, seconds: int | None) -> None:
    assert seconds_in(said) == seconds


def test_a_date_is_as_many_seconds_from_now() -> None:
    assert 0 < (seconds_in(formatdate(time.time() + 600, usegmt=True)) or 0) <= 601
    assert seconds_in(formatdate(time.time() - 600, usegmt=True)) == 0


@given(st.text())
def test_whatever_a_server_says_it_is_a_pause_or_nothing(said: str) -> None:
    seconds = seconds_in(said)
    assert seconds is None or 0 <= seconds <= LONGEST_SECONDS
