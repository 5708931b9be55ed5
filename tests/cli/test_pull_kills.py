"""Pulls that are killed, raced and interrupted."""

from __future__ import annotations

import asyncio
import hashlib
import random
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.cli.pulling import NO_ENGINE, pull, started
from tests.hub.played_hub import PlayedHub, Repo
from tests.hub.watching import content_of, files_in


@pytest.fixture
def tiny(tiny_gguf: Path) -> bytes:
    return tiny_gguf.read_bytes()


@pytest.fixture
def big(tiny: bytes) -> bytes:
    return tiny + random.Random(7).randbytes(40_000_000 - len(tiny))


@pytest.mark.timeout(300)
async def test_a_pull_killed_at_ten_points_ends_well_and_fetches_little_twice(big: bytes, home: Path) -> None:
    chance = random.Random(11)
    points = sorted(chance.randrange(100_000, len(big)) for _ in range(10))
    hub = PlayedHub(owner__name=Repo({"m.gguf": big}))
    hub.slow = 0.004
    lost: list[int] = []
    have = 0
    async with hub.open():
        for point in points:
            reached = asyncio.Event()
            before = hub.sent
            hub.on_sent = partial(set_at, reached, hub, before + point - have)
            async with started(hub, "pull", "--json", "owner/name", **NO_ENGINE) as process:
                await asyncio.wait_for(reached.wait(), 60)
                process.send_signal(signal.SIGKILL)
                await process.wait()
            assert not any("snapshots" in name for name in files_in(home))
            kept = noted(home)
            lost.append(have + hub.sent - before - kept)
            have = kept
        hub.slow, hub.on_sent = 0.0, lambda: None
        before = hub.sent
        done = await pull(hub, "--json", "owner/name")
    (told,) = done.objects
    assert told["sha256"] == hashlib.sha256(big).hexdigest()
    assert content_of(told["path"]) == big
    assert (told["bytes_resumed"], told["bytes_fetched"]) == (have, len(big) - have)
    assert max(lost) <= 10_000_000
    assert hub.sent <= len(big) + 10 * 10_000_000


def set_at(reached: asyncio.Event, hub: PlayedHub, sent: int) -> None:
    if hub.sent >= sent:
        reached.set()


def noted(home: Path) -> int:
    """Bytes that a killed pull left and the next one needn't fetch."""
    found = list(home.rglob("*.callgate.incomplete.parts"))
    if not found:
        return 0
    title, _, notes = found[0].read_bytes().partition(b"\n")
    size, part = map(int, title.split()[2:])
    return sum(min(part, size - number * part) for number, note in enumerate(notes) if note)


async def test_two_pulls_at_once_make_one_download(big: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": big}))
    hub.slow = 0.001
    async with hub.open():
        first, second = await asyncio.gather(*(pull(hub, "--json", "owner/name") for _ in range(2)))
    assert (first.status, second.status) == (0, 0)
    told = [first.objects[0], second.objects[0]]
    assert told[0]["path"] == told[1]["path"]
    assert sorted(entry["bytes_fetched"] for entry in told) == [0, len(big)]
    looks = 2 * 2_000_000
    assert hub.sent <= len(big) + looks


async def test_ctrl_c_is_told_what_to_do_next(big: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": big}))
    hub.slow = 0.01
    reached = asyncio.Event()
    hub.on_sent = lambda: reached.set() if hub.sent > 10_000_000 else None
    async with hub.open(), started(hub, "pull", "owner/name", **NO_ENGINE) as process:
        await asyncio.wait_for(reached.wait(), 60)
        process.send_signal(signal.SIGINT)
        _, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 130
    assert "goes on where this stopped" in err.decode()
    assert "Traceback" not in err.decode()
