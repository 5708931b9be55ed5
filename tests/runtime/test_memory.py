import asyncio
from types import SimpleNamespace

import pytest

from callgate.runtime.memory import MOST_KEPT, Made, Memory


class Maker:
    """Makes what is due, and counts."""

    def __init__(self, value: str = "answer", keep: float = 600, version: str | None = None) -> None:
        self.made = Made(value, keep, version)
        self.times = 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self) -> Made[str]:
        self.times += 1
        made = self.made
        await self.go.wait()
        return made


async def test_what_was_made_is_kept_for_its_time(clock: SimpleNamespace) -> None:
    kept: Memory[str, str] = Memory()
    make = Maker(keep=30)
    for passed, times in ((0, 1), (29.9, 1), (30.1, 2), (60, 2), (60.3, 3)):
        clock.now = 1000.0 + passed
        assert await kept.recall("key", None, make) == "answer"
        assert make.times == times


async def test_another_version_is_made_anew() -> None:
    kept: Memory[str, str] = Memory()
    make = Maker(version="v2")
    await kept.recall("key", "v1", make)
    await kept.recall("key", "v2", make)
    assert make.times == 1
    await kept.recall("key", "v3", make)
    assert make.times == 2


async def test_many_wait_for_one() -> None:
    kept: Memory[str, str] = Memory()
    make = Maker()
    make.go.clear()
    askers = [asyncio.create_task(kept.recall("key", None, make)) for _ in range(100)]
    await asyncio.sleep(0)
    make.go.set()
    assert await asyncio.gather(*askers) == ["answer"] * 100
    assert make.times == 1


async def test_one_who_gives_up_takes_nothing_from_the_others() -> None:
    kept: Memory[str, str] = Memory()
    make = Maker()
    make.go.clear()
    first, second = (asyncio.create_task(kept.recall("key", None, make)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    make.go.set()
    assert await second == "answer"
    assert make.times == 1


async def test_what_fails_is_raised_to_all_and_not_kept() -> None:
    kept: Memory[str, str] = Memory()
    times = 0

    async def fail() -> Made[str]:
        nonlocal times
        times += 1
        await asyncio.sleep(0)
        raise OSError("no")

    askers = [kept.recall("key", None, fail) for _ in range(3)]
    assert all(isinstance(each, OSError) for each in await asyncio.gather(*askers, return_exceptions=True))
    assert times == 1
    assert await kept.recall("key", None, Maker()) == "answer"


async def test_clearing_forgets_what_is_under_way_too() -> None:
    kept: Memory[str, str] = Memory()
    old, new = Maker("old"), Maker("new")
    old.go.clear()
    waiting = asyncio.create_task(kept.recall("key", None, old))
    await asyncio.sleep(0)
    kept.clear()
    assert await kept.recall("key", None, new) == "new"
    old.go.set()
    assert await waiting == "old"
    assert await kept.recall("key", None, new) == "new"
    assert new.times == 1


async def test_closing_ends_what_is_under_way() -> None:
    kept: Memory[str, str] = Memory()
    make = Maker()
    make.go.clear()
    waiting = asyncio.create_task(kept.recall("key", None, make))
    await asyncio.sleep(0)
    await kept.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_it_does_not_grow_without_end() -> None:
    kept: Memory[int, str] = Memory()
    make = Maker()
    for key in range(MOST_KEPT + 100):
        await kept.recall(key, None, make)
    assert len(kept._kept) == MOST_KEPT
    await kept.recall(MOST_KEPT + 99, None, make)
    assert make.times == MOST_KEPT + 100
    await kept.recall(0, None, make)
    assert make.times == MOST_KEPT + 101
