from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.keeping import OwnMemory


def standing_at(now: list[float]) -> Callable[[], float]:
    return lambda: now[0]


async def test_what_is_kept_is_there_until_it_is_dropped() -> None:
    memory = OwnMemory()
    await memory.put("a", b"one")
    await memory.put("a", b"two")
    assert await memory.get("a") == b"two"
    assert memory.bytes_kept == 3
    assert (await memory.drop("a"), await memory.drop("a")) == (True, False)
    assert (await memory.get("a"), memory.bytes_kept) == (None, 0)


async def test_what_was_last_used_longest_ago_goes_first() -> None:
    memory = OwnMemory(answers=2)
    await memory.put("a", b"1")
    await memory.put("b", b"2")
    await memory.get("a")
    await memory.put("c", b"3")
    assert [await memory.get(id_) for id_ in "abc"] == [b"1", None, b"3"]


async def test_what_is_old_is_gone() -> None:
    now = [0.0]
    memory = OwnMemory(seconds=10, clock=standing_at(now))
    await memory.put("a", b"1")
    now[0] = 9.0
    assert await memory.get("a") == b"1"
    now[0] = 10.0
    assert (await memory.get("a"), len(memory), await memory.drop("a")) == (None, 0, False)


async def test_what_is_too_long_is_not_kept_at_all() -> None:
    memory = OwnMemory(bytes_=10, bytes_each=5)
    await memory.put("a", b"1")
    await memory.put("a", b"123456")
    assert await memory.get("a") is None


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.binary(max_size=8))), st.integers(1, 4), st.integers(1, 20))
async def test_no_bound_is_ever_passed(puts: list[tuple[str, bytes]], answers: int, most: int) -> None:
    memory = OwnMemory(answers=answers, bytes_=most, bytes_each=6)
    for id_, content in puts:
        await memory.put(id_, content)
        assert len(memory) <= answers
        assert memory.bytes_kept <= most
        if len(content) <= min(6, most):
            assert await memory.get(id_) == content, "the newest stays"
