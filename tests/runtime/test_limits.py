from __future__ import annotations

import pytest

from callgate.runtime import Limits
from callgate.runtime.limits import Clock, TimeIsUp
from callgate.settings import load_settings


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in its one entry."""
    time = [100.0]
    monkeypatch.setattr("callgate.runtime.limits.time.monotonic", lambda: time[0])
    return time


def test_the_time_that_a_user_takes_does_not_count(now: list[float]) -> None:
    clock = Clock(10)
    now[0] += 4
    with clock.stopped():
        now[0] += 3600
    assert clock.left == 6
    clock.check()
    now[0] += 7
    assert clock.left == 0
    with pytest.raises(TimeIsUp):
        clock.check()


def test_without_a_limit_there_is_always_time(now: list[float]) -> None:
    clock = Clock(None)
    now[0] += 1e9
    with clock.stopped():
        now[0] += 1
    clock.check()
    assert clock.left is None


def test_the_settings_say_how_far_it_may_go() -> None:
    settings = load_settings({"tools.max_turns": 3, "tools.max_repeats": 2, "tools.call_timeout": 5.0})
    assert Limits.of(settings) == Limits(turns=3, repeats=2, call_seconds=5.0)
    assert Limits.of(load_settings({"tools.total_timeout": 60.0})) == Limits(seconds=60.0)
