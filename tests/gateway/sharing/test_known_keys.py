"""Keys that Redis lost, was made to forget, or has in a state in which nobody can read them."""

from __future__ import annotations

import pytest

from callgate.gateway import App, KeyRing
from callgate.gateway.sharing.key_ring import digest_of
from callgate.gateway.sharing.known_keys import WRITE_BACK_SECONDS, KnownKeys
from callgate.settings import Secret
from callgate.vocabulary import BadAnswer
from tests.gateway.real_redis import RealRedis
from tests.gateway.running import Gateway, gateway, no_servers
from tests.gateway.sharing.test_membership import options, soon


async def status(at: Gateway, key: str = "") -> int:
    return (await at.get("/v1/models", **({"X_Api_Key": key} if key else {}))).status


@pytest.fixture
async def ring(redis: RealRedis) -> KeyRing:
    return await KeyRing.at(Secret(redis.url))


async def test_a_redis_that_comes_back_empty_gets_its_keys_back_and_locks_nobody_out(
    redis: RealRedis, ring: KeyRing, caplog: pytest.LogCaptureFixture
) -> None:
    alice = await ring.add("alice")
    async with gateway(options(redis)) as one, gateway(options(redis)) as other:
        redis.kill()
        redis.start()
        assert redis.keys() == []

        async def is_back() -> bool:
            statuses = [await status(each, alice) for each in (one, other)]
            assert statuses == [200, 200]
            return redis.get(ring.table.key) != b""

        await soon(is_back)
        assert await status(one, "wrong") == 401
        async with gateway(options(redis)) as fresh:
            assert (await status(fresh, alice), await status(fresh)) == (200, 401)
        bob = await ring.add("bob")
        await ring.remove("alice")

        async def hear() -> bool:
            return [await status(each, key) for each in (one, other) for key in (alice, bob)] == [401, 200] * 2

        await soon(hear)
    assert "appendonly yes" in caplog.text
    await ring.close()


async def test_a_redis_that_comes_back_as_it_once_was_brings_back_no_key_that_was_taken_away(
    redis: RealRedis, ring: KeyRing
) -> None:
    alice = await ring.add("alice")
    before = redis.get(ring.table.key)
    async with gateway(options(redis)) as served:
        bob = await ring.add("bob")
        await ring.remove("alice")

        async def knows() -> bool:
            return (await status(served, alice), await status(served, bob)) == (401, 200)

        await soon(knows)
        redis.say("SET", ring.table.key, before)
        redis.say("SET", ring.table.changes_key, "once")

        async def is_mended() -> bool:
            return list(await ring.keys()) == ["bob"]

        await soon(is_mended)
        assert await knows()
    await ring.close()


async def test_the_last_key_taken_back_opens_no_door_nor_does_a_new_server(redis: RealRedis, ring: KeyRing) -> None:
    key = await ring.add("only")
    async with gateway(options(redis)) as served:
        assert await status(served) == 401
        await ring.remove("only")

        async def is_shut() -> bool:
            return await status(served, key) == 401

        await soon(is_shut)
        assert await status(served) == 401
        async with gateway(options(redis)) as fresh:
            assert (await status(fresh), await status(fresh, key)) == (401, 401)
            again = await ring.add("only")

            async def is_open() -> bool:
                return [await status(each, again) for each in (served, fresh)] == [200, 200]

            await soon(is_open)
    await ring.close()


async def test_where_there_never_was_a_key_a_server_of_this_machine_takes_everybody(redis: RealRedis) -> None:
    async with gateway(options(redis)) as served:
        assert await status(served) == 200


@pytest.mark.parametrize("content", [b"not json", b"[]", b"\xff" * 9])
async def test_a_broken_list_is_nobodys_loss_and_is_said_to_be_broken(
    redis: RealRedis, ring: KeyRing, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    alice = await ring.add("alice")
    async with gateway(options(redis)) as served:
        redis.say("SET", ring.table.key, content)
        redis.say("SET", ring.table.changes_key, "broken")
        await soon(lambda: "is broken" in caplog.text)
        assert (await status(served, alice), await status(served)) == (200, 401)
        for asked in (ring.keys(), ring.add("bob"), ring.remove("alice"), App(no_servers(), options(redis)).start()):
            with pytest.raises(BadAnswer, match="callgate:1:keys") as raised:
                await asked
            assert "DEL callgate:1:keys" in (raised.value.hint or "")
        assert redis.get(ring.table.key) == content
        redis.say("DEL", ring.table.key)
        redis.say("DEL", ring.table.changes_key)

        async def is_mended() -> bool:
            return list(await ring.keys()) == ["alice"]

        await soon(is_mended)
    await ring.close()


async def test_who_heard_nothing_for_too_long_tells_nobody_what_counts(redis: RealRedis, ring: KeyRing) -> None:
    now = 0.0
    heard: list[tuple[frozenset[bytes], bool]] = []
    known = KnownKeys(ring, "here", lambda digests, *, is_needed: heard.append((digests, is_needed)), clock=lambda: now)
    alice = await ring.add("alice")
    await known.join()
    redis.say("FLUSHALL")
    now = WRITE_BACK_SECONDS
    await known.hear()
    assert list(await ring.keys()) == ["alice"]
    redis.say("FLUSHALL")
    now = 3 * WRITE_BACK_SECONDS
    await known.hear()
    assert await ring.keys() == {}
    everybody = frozenset([digest_of(alice)])
    assert heard == [(everybody, True), (everybody, True), (frozenset(), False)]
    await ring.close()
