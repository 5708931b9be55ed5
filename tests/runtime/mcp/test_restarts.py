from __future__ import annotations

from callgate.runtime.mcp.restarts import FORGIVEN_AFTER, Restarts


def test_the_pauses_grow_and_hope_ends() -> None:
    now = 0.0
    restarts = Restarts(3, clock=lambda: now)
    pauses = []
    while not restarts.is_hopeless:
        restarts.note()
        pauses.append(restarts.pause())
        now += 1
    assert pauses == [0.0, 0.2, 0.4, 0.8]


def test_ends_of_long_ago_are_forgiven() -> None:
    now = 0.0
    restarts = Restarts(0, clock=lambda: now)
    restarts.note()
    assert restarts.is_hopeless
    now += FORGIVEN_AFTER
    assert not restarts.is_hopeless


def test_no_pause_is_longer_than_some_seconds() -> None:
    restarts = Restarts(10_000, clock=lambda: 0.0)
    for _ in range(2_000):
        restarts.note()
    assert restarts.pause() == 5.0
