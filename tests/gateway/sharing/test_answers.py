from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.sharing.answers import SharedAnswers, is_sound
from callgate.gateway.sharing.link import PREFIX, RedisLink
from callgate.gateway.writing.responses import Stored
from callgate.settings import Secret
from tests.gateway.real_redis import RealRedis


def content(id_: str, size: int = 0) -> bytes:
    response = msgspec.json.encode({"id": id_, "output": [], "text": "x" * size})
    return msgspec.json.encode(Stored((), msgspec.Raw(response)))


@pytest.fixture
async def link(redis: RealRedis) -> AsyncIterator[RedisLink]:
    link = RedisLink(Secret(redis.url))
    yield link
    await link.close()


def total(redis: RealRedis) -> tuple[int, int]:
    """How many there are by the index, and how long they are together by the count."""
    return int(redis.say("ZCARD", f"{PREFIX}answers")[1:]), int(redis.get(f"{PREFIX}answers:bytes") or 0)


async def test_the_oldest_go_when_there_are_too_many(redis: RealRedis, link: RedisLink) -> None:
    answers = SharedAnswers(link, answers=3)
    for number in range(5):
        await answers.put(f"r{number}", content(f"r{number}"))
    assert len(redis.keys(f"{PREFIX}answer:*")) == 3
    assert await answers.get("r4") == content("r4")
    assert total(redis) == (3, 3 * len(content("r0")))


async def test_the_oldest_go_when_they_are_too_long_together(redis: RealRedis, link: RedisLink) -> None:
    answers = SharedAnswers(link, bytes_=1_000)
    for number in range(5):
        await answers.put(f"r{number}", content(f"r{number}", 300))
    count, bytes_ = total(redis)
    assert 1 <= count <= 3
    assert bytes_ <= 1_000
    assert bytes_ == count * len(content("r0", 300))
    assert await answers.get("r0") is None


async def test_what_is_told_twice_counts_once_and_what_is_dropped_not_at_all(redis: RealRedis, link: RedisLink) -> None:
    answers = SharedAnswers(link)
    for _ in range(2):
        await answers.put("r1", content("r1"))
    assert total(redis) == (1, len(content("r1")))
    assert (await answers.drop("r1"), await answers.drop("r1")) == (True, False)
    assert total(redis) == (0, 0)


async def test_what_is_too_long_is_kept_nowhere(redis: RealRedis, link: RedisLink) -> None:
    answers = SharedAnswers(link, bytes_each=100)
    await answers.put("r1", content("r1", 200))
    assert await answers.get("r1") is None
    redis.say("SET", f"{PREFIX}answer:r1", content("r1", 200))
    assert await answers.get("r1") is None
    assert redis.keys(f"{PREFIX}answers*") == []


async def test_what_was_dropped_while_redis_was_away_stays_dropped(redis: RealRedis, link: RedisLink) -> None:
    one, other = SharedAnswers(link), SharedAnswers(link)
    await one.put("r1", content("r1"))
    redis.hang()
    assert await one.drop("r1")
    redis.start()
    await link.together(("PING",), is_trial=True)
    assert await one.get("r1") is None
    await one.catch_up()
    assert await other.get("r1") is None
    assert total(redis) == (0, 0)


async def test_an_index_that_somebody_spoilt_is_lived_with(redis: RealRedis, link: RedisLink) -> None:
    answers = SharedAnswers(link, answers=2)
    redis.say("ZADD", f"{PREFIX}answers", "1", "nonsense", "2", "99999999999 x", "3", " ")
    for number in range(4):
        await answers.put(f"r{number}", content(f"r{number}"))
    assert await answers.get("r3") == content("r3")
    assert total(redis)[0] == 2


@given(st.binary(max_size=200) | st.recursive(st.none() | st.text(), st.lists).map(msgspec.json.encode))
def test_only_what_we_may_have_kept_is_sound(found: bytes) -> None:
    assert not is_sound("r1", found)


def test_an_answer_under_another_name_is_not_sound() -> None:
    assert is_sound("r1", content("r1"))
    assert is_sound("somebody/r1", content("r1"))
    assert not is_sound("r2", content("r1"))
