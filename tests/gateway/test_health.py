from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from callgate.gateway import Options, endpoints, health
from callgate.gateway.endpoints import Endpoints
from callgate.gateway.health import HealthChecks
from callgate.vocabulary import ModelRef, Unreachable
from tests.gateway.running import gateway, no_servers
from tests.gateway.test_failover import HELLO, STREAMED, ask, behind, said
from tests.gateway.upstreams import Upstream, upstreams

GONE = Unreachable("nobody listens")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(endpoints, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(health, "SUSPICION_SECONDS", 0.05)
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.2)


@pytest.fixture
async def known() -> AsyncIterator[tuple[Endpoints, HealthChecks]]:
    every = Endpoints()
    checks = HealthChecks(no_servers(), every, instance="me")
    every.on_fail = every.look_after = checks.look_after
    yield every, checks
    await checks.close()


async def until_up(every: Endpoints, ref: ModelRef) -> None:
    for _ in range(2000):
        if every.of(ref).state != "out":
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it isn't let in")


async def test_one_that_is_out_is_looked_at_until_it_is_back(known: tuple[Endpoints, HealthChecks]) -> None:
    every, _ = known
    a = Upstream("a")
    async with upstreams(a):
        await a.stop()
        refs = [ModelRef("openai", "m", a.url), ModelRef("openai", "m", "http://127.0.0.1:1/v1")]
        every.lease(refs).end(GONE)
        assert every.of(refs[0]).state == "out"
        a.part = "fails"
        await a.start()
        await a.until("/v1/models", 3)
        assert every.of(refs[0]).state == "out"
        a.part = "answers"
        await until_up(every, refs[0])
        assert every.of(refs[0]).state == "trial"
        asked = a.asked["/v1/models"]
        every.lease(refs, refs[1:]).answered()
        assert every.of(refs[0]).state == "up"
        assert a.asked["/v1/models"] == asked


async def test_a_lone_server_hears_nothing_but_what_clients_want(known: tuple[Endpoints, HealthChecks]) -> None:
    every, checks = known
    a = Upstream("a")
    async with upstreams(a):
        ref = ModelRef("openai", "m", a.url)
        every.lease([ref]).end(GONE)
        assert every.of(ref).state == "out"
        assert not checks._watching
        every.lease([ref]).answered()
        assert every.of(ref).state == "up"
        assert not a.asked


async def test_nobody_looks_after_what_nobody_wants(
    known: tuple[Endpoints, HealthChecks], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "IDLE_SECONDS", 0.0)
    every, checks = known
    a = Upstream("a")
    async with upstreams(a):
        refs = [ModelRef("openai", "m", a.url), ModelRef("openai", "m", "http://127.0.0.1:1/v1")]
        every.lease(refs).end(GONE)
        await asyncio.gather(*checks._watching.values())
        assert not a.asked
        assert every.of(refs[0]).state == "out"
        monkeypatch.setattr(health, "IDLE_SECONDS", 60.0)
        every.lease(refs)
        await until_up(every, refs[0])


async def test_many_who_ask_whether_it_lives_share_one_question(known: tuple[Endpoints, HealthChecks]) -> None:
    _, checks = known
    a = Upstream("a")
    async with upstreams(a):
        refs = [ModelRef("openai", name, a.url) for name in ("m", "n", "o") * 20]
        assert all(await asyncio.gather(*(checks.answers(ref) for ref in refs)))
        assert a.asked["/v1/models"] == 1


@pytest.mark.parametrize(("part", "lives"), [("answers", True), ("is busy", True), ("fails", False), ("hangs", False)])
async def test_whoever_answers_lives(known: tuple[Endpoints, HealthChecks], part: str, lives: bool) -> None:
    _, checks = known
    a = Upstream("a", part)  # type: ignore[arg-type]
    async with upstreams(a):
        assert await checks.answers(ModelRef("openai", "m", a.url)) is lives
        assert await checks.answers(ModelRef("file", "/m.gguf"))


@pytest.mark.parametrize("body", [HELLO, STREAMED])
async def test_a_server_that_hangs_is_left_for_another(body: object) -> None:
    a, b = Upstream("a"), Upstream("b")
    async with upstreams(a, b), gateway(Options(), behind(a, b)) as served:
        assert (await served.get("/v1/models")).status == 200
        a.part = "hangs"
        answers = await asyncio.gather(*(ask(served, body) for _ in range(6)))
        assert all(b"I am b" in answer.body or b'"b"' in answer.body for answer in answers)
        assert b.chats == 6


async def test_a_server_that_takes_its_time_is_waited_for() -> None:
    a, b = Upstream("a"), Upstream("b")
    async with upstreams(a, b), gateway(Options(), behind(a, b)) as served:
        assert (await served.get("/v1/models")).status == 200
        looked = a.asked["/v1/models"]
        a.part = "loads for long"
        a.hold.clear()
        first = asyncio.create_task(ask(served))
        await a.until("/v1/models", looked + 3)
        assert not first.done()
        a.hold.set()
        assert said(await first) == "I am a"


async def test_one_that_comes_back_is_used_again_and_nobody_notices() -> None:
    a, b = Upstream("a"), Upstream("b")
    async with upstreams(a, b), gateway(Options(), behind(a, b)) as served:
        assert (await served.get("/v1/models")).status == 200
        for _ in range(3):
            await a.stop()
            assert {said(await ask(served)) for _ in range(3)} == {"I am b"}
            await a.start()
            async with asyncio.timeout(20):
                while said(await ask(served)) != "I am a":
                    pass


async def test_all_can_be_looked_at_whether_anybody_asks_or_not() -> None:
    a, b = Upstream("a"), Upstream("b")
    async with upstreams(a, b):
        options = Options(check_every=0.02, aliases={"x": f"{a.url}#m,{b.url}#m"})
        async with gateway(options) as served:
            await asyncio.gather(a.until("/v1/models", 2), b.until("/v1/models", 2))
            await a.stop()
            async with asyncio.timeout(20):
                while (await served.get("/ready")).json["endpoints"]["out"] == 0:
                    pass
            # So no client has to find out.
            assert said(await ask(served, {**HELLO, "model": "x"})) == "I am b"
            assert b'to="endpoint"' not in (await served.get("/metrics")).body
