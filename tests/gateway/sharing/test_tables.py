from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.sharing.key_ring import LONGEST_TABLE, KeyRing
from callgate.gateway.sharing.key_rows import MOST_ROWS, SharedKey
from callgate.gateway.sharing.link import RedisLink
from callgate.gateway.sharing.tables import Table
from callgate.gateway.sharing.verdicts import Verdict
from callgate.settings import Secret
from tests.gateway.real_redis import RealRedis

NAMES = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


class Link:
    """Whoever only reads bytes asks nobody."""


def table(row: type[msgspec.Struct], *, rows: int = 3, bytes_: int = 1_000) -> Table[msgspec.Struct]:
    return Table(Link(), "t", row, rows=rows, bytes_=bytes_)  # type: ignore[arg-type]


@given(st.binary(max_size=300) | st.dictionaries(NAMES, JSON, max_size=8).map(msgspec.json.encode))
def test_whatever_is_there_only_sound_rows_come_out(content: bytes) -> None:
    for kind in (SharedKey, Verdict):
        rows = table(kind).decoded(content)
        assert len(rows) <= 3
        assert all(msgspec.json.decode(msgspec.json.encode(row), type=kind) == row for row in rows.values())


@given(st.dictionaries(NAMES, st.sampled_from(["ab" * 32, "AB" * 32, "ab", "", "é" * 64])))
def test_a_key_is_a_hash_or_nothing(hashes: dict[str, str]) -> None:
    content = msgspec.json.encode({name: {"sha256": digest, "made_at": 1} for name, digest in hashes.items()})
    found = table(SharedKey, rows=1_000, bytes_=1 << 20).decoded(content)
    assert set(found) == {name for name, digest in hashes.items() if digest == "ab" * 32}


def test_what_is_too_long_is_not_there_at_all() -> None:
    rows = {"a": SharedKey(digest="0" * 64)}
    content = msgspec.json.encode(rows)
    assert table(SharedKey, bytes_=len(content)).decoded(content) == rows
    assert table(SharedKey, bytes_=len(content) - 1).decoded(content) == {}


async def test_many_who_change_it_at_once_lose_nothing(redis: RealRedis) -> None:
    import asyncio

    links = [RedisLink(Secret(redis.url)) for _ in range(4)]
    tables = [Table(link, "keys", SharedKey, rows=MOST_ROWS, bytes_=LONGEST_TABLE) for link in links]

    async def add(table: Table[SharedKey], name: str) -> None:
        await table.change(lambda rows: {**rows, name: SharedKey(digest="1" * 64)})

    await asyncio.gather(*(add(table, f"{number}") for number, table in enumerate(tables)))
    assert set(await tables[0].read()) == {"0", "1", "2", "3"}
    for link in links:
        await link.close()


async def test_a_name_that_nobody_could_have_given_is_none(redis: RealRedis) -> None:
    ring = KeyRing(RedisLink(Secret(redis.url)))
    rows = {name: SharedKey(digest="1" * 64) for name in ("alice", "\x1b[2J", "a b", "")}
    redis.say("SET", ring.table.key, msgspec.json.encode(rows))
    assert list(await ring.keys()) == ["alice"]
    await ring.close()
