from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest

from callgate.gateway.endpoints import FIRST_PAUSE, Endpoint, Endpoints
from callgate.gateway.sharing.link import PREFIX, RedisLink
from callgate.gateway.sharing.outages import Outages
from callgate.settings import Secret
from callgate.vocabulary import ModelRef
from tests.gateway.real_redis import RealRedis
from tests.gateway.running import no_servers

REF = ModelRef.parse("http://gpu-1:8000/v1#m")
OTHER = ModelRef.parse("http://gpu-2:8000/v1#m")


class Gate:
    """What one server of ours knows of its endpoints."""

    def __init__(self, link: RedisLink, name: str) -> None:
        self.endpoints = Endpoints()
        self.endpoint = self.endpoints.of(REF)
        self.endpoints.of(OTHER)
        self.outages = Outages(link, no_servers(), self.endpoints, instance=name)
        self.looked_after: list[Endpoint] = []
        self.endpoints.look_after = self.looked_after.append


@pytest.fixture
async def gates(redis: RealRedis) -> AsyncIterator[tuple[Gate, Gate]]:
    link = RedisLink(Secret(redis.url))
    yield Gate(link, "a"), Gate(link, "b")
    await link.close()


async def test_who_is_out_is_out_for_the_other_and_back_for_both(gates: tuple[Gate, Gate]) -> None:
    a, b = gates
    a.endpoint.fail(began=1e12)
    await a.outages.tell(a.endpoint)
    await b.outages.hear()
    assert (b.endpoint.state, b.endpoint.failures) == ("out", 1)
    assert b.looked_after == [b.endpoint]
    assert b.endpoints.of(OTHER).state == "up"
    a.endpoint.let_in()
    await a.outages.tell(a.endpoint)
    await b.outages.hear()
    assert b.endpoint.state == "trial"


async def test_nobody_hears_their_own_news(gates: tuple[Gate, Gate]) -> None:
    a, _ = gates
    a.endpoint.fail(began=1e12)
    await a.outages.tell(a.endpoint)
    a.endpoint.succeed(began=1e12)
    await a.outages.hear()
    assert a.endpoint.state == "up"


async def test_what_one_found_out_itself_another_does_not_take_back(gates: tuple[Gate, Gate]) -> None:
    a, b = gates
    b.endpoint.fail(began=1e12)
    await b.outages.hear()
    assert b.endpoint.state == "out"
    a.endpoint.fail(began=1e12)
    await a.outages.tell(a.endpoint)
    await b.outages.hear()
    a.endpoint.let_in()
    await a.outages.tell(a.endpoint)
    await b.outages.hear()
    assert b.endpoint.state == "out"


@pytest.mark.parametrize(
    "note", ["", "null", "{", '{"failures":-1}', '{"failures":99999999}', '{"by":1}', "[" * 10_000, "\xff"]
)
async def test_nonsense_takes_nobody_out(redis: RealRedis, gates: tuple[Gate, Gate], note: str) -> None:
    a, b = gates
    a.endpoint.fail(began=1e12)
    await a.outages.tell(a.endpoint)
    (key,) = redis.keys(f"{PREFIX}out:*")
    redis.say("SET", key, note)
    await b.outages.hear()
    assert b.endpoint.state == "up"


async def test_an_outage_that_never_ends_is_none(redis: RealRedis, gates: tuple[Gate, Gate]) -> None:
    a, b = gates
    a.endpoint.fail(began=1e12)
    await a.outages.tell(a.endpoint)
    (key,) = redis.keys(f"{PREFIX}out:*")
    redis.say("SET", key, '{"by":"x"}')
    await b.outages.hear()
    assert b.endpoint.state == "up"


async def test_what_is_only_heard_is_soon_looked_at(gates: tuple[Gate, Gate]) -> None:
    """Others may have lost their way to a server that we still reach."""
    a, b = gates
    for began in (1e12, 2e12, 3e12, 4e12):
        a.endpoint.fail(began=began)
    assert a.endpoint.out_until - time.monotonic() > 5
    await a.outages.tell(a.endpoint)
    await b.outages.hear()
    assert b.endpoint.is_hearsay
    assert b.endpoint.out_until - time.monotonic() <= FIRST_PAUSE
    assert b.endpoint.failures == 4
    b.endpoint.fail(began=1e12)
    assert not b.endpoint.is_hearsay
