from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.sharing.key_rows import (
    MOST_KEYS,
    REMEMBERED_SECONDS,
    SharedKey,
    counting,
    merged,
    missing,
    new_row,
    removed,
)

A, B = "a" * 64, "b" * 64
NOW = float(int(time.time()))
ROWS = st.dictionaries(
    st.sampled_from("xyz"),
    st.builds(
        SharedKey,
        digest=st.just(A),
        made_at=st.integers(0, 5).map(lambda each: NOW - each),
        removed_at=st.just(0.0) | st.integers(0, 5).map(lambda each: NOW - each),
    ),
)


@given(ROWS, ROWS)
def test_it_is_all_the_same_who_tells_whom(one: dict[str, SharedKey], other: dict[str, SharedKey]) -> None:
    both = merged(one, other)
    assert {name: key.rank for name, key in both.items()} == {n: key.rank for n, key in merged(other, one).items()}
    assert missing(one, both) == missing(other, both) == {}
    assert merged(both, one) == both


@given(ROWS, st.sampled_from("xyz"))
def test_what_was_taken_back_stays_so_until_it_is_made_anew(rows: dict[str, SharedKey], name: str) -> None:
    made = {**rows, name: new_row(A, rows.get(name))}
    taken = {**made, name: removed(made[name])}
    again = {**taken, name: new_row(B, taken[name])}
    assert name not in counting(merged(made, taken))
    assert merged(taken, again)[name].digest == merged(again, made)[name].digest == B
    assert name in counting(merged(again, taken))


def test_a_clock_that_runs_slow_changes_nothing() -> None:
    key = SharedKey(digest=A, made_at=NOW + 5_000)
    assert removed(key).rank > key.rank
    assert new_row(B, removed(key)).rank > removed(key).rank


def test_what_was_taken_back_long_ago_is_forgotten_and_so_are_the_oldest_of_too_many() -> None:
    old = SharedKey(digest=A, made_at=1.0, removed_at=NOW - REMEMBERED_SECONDS - 60)
    gone = {f"k{n}": SharedKey(digest=A, made_at=1.0, removed_at=NOW - n) for n in range(MOST_KEYS + 5)}
    kept = merged({"old": old, "alive": SharedKey(digest=B), **gone})
    assert set(kept) == {"alive", *(f"k{n}" for n in range(MOST_KEYS))}
