from __future__ import annotations

import pytest

from callgate.validate.records import Trial
from callgate.validate.standings import tokens_per_second
from callgate.validate.timing import TurnTimes
from tests.validate.made_runs import trial


def times(*pieces: float, streams: bool = True) -> TurnTimes:
    made = TurnTimes(streams=streams)
    made._pieces = list(pieces)
    return made


def test_the_wait_for_the_first_token_is_no_writing() -> None:
    bit_by_bit = times(1.0, 1.1, 1.2, 1.3, 1.4)
    assert bit_by_bit.first(1.4, 5) == 1.0
    assert bit_by_bit.writing(1.4, 5) == pytest.approx(0.5)  # four steps took 0.4


@pytest.mark.parametrize(
    "turn",
    [
        times(),  # a call, which is held back until it is whole
        times(0.2613),
        times(*[0.2613] * 24),  # all in one burst
        times(0.1, 0.15, 0.2, 0.25, 0.26, streams=False),
    ],
)
def test_where_nothing_comes_bit_by_bit_the_whole_time_counts(turn: TurnTimes) -> None:
    assert turn.first(0.2614, 24) is None
    assert turn.writing(0.2614, 24) == 0.2614


def test_words_before_a_call_do_not_tell_when_the_call_began() -> None:
    turn = times(0.1, 0.2, 0.3, 0.4)
    assert turn.first(3.0, 100) is None


@pytest.mark.parametrize(
    ("made", "speed"),
    [
        (trial(tokens=24, ms=261.4, first_token_ms=None, writing_ms=261.4), 91.8),
        (trial(tokens=5, ms=1400.0, first_token_ms=1000.0, writing_ms=500.0), 10.0),
        (trial(tokens=24, ms=240.0, first_token_ms=239.9), 100.0),  # as it was written before
        (trial(tokens=None), None),
        (trial(tokens=5, ms=0.0), None),
    ],
)
def test_tokens_a_second_are_never_more_than_were_written(made: Trial, speed: float | None) -> None:
    assert tokens_per_second(made) == (None if speed is None else pytest.approx(speed, abs=0.1))
