"""Two servers of ours and one real Redis between them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from callgate.gateway import App, KeyRing, Options
from callgate.gateway.sharing.link import PREFIX
from callgate.registry import Registry, moment_of
from callgate.settings import Secret
from callgate.vocabulary import AssistantDelta, Done, Event, ModelRef, Unreachable, UsageError
from tests.cli.command import environ
from tests.gateway.real_redis import PASSWORD, RealRedis
from tests.gateway.running import Gateway, gateway, no_servers, recording
from tests.gateway.upstreams import Upstream, upstreams

SOON_SECONDS = 30.0


async def soon(is_so: Callable[[], bool | Awaitable[bool]]) -> None:
    async with asyncio.timeout(SOON_SECONDS):
        while True:
            answer = is_so()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.02)


def options(redis: RealRedis, **more: object) -> Options:
    return Options(redis=Secret(redis.url), **more)  # type: ignore[arg-type]


def played(tmp_path: Path) -> str:
    said: list[Event] = [AssistantDelta("blue"), Done("stop")]
    return recording(tmp_path / "played.jsonl", *([said] * 20))


async def responded(at: Gateway, text: str, previous: str | None = None, **headers: str) -> tuple[int, str]:
    body = {"input": text, "previous_response_id": previous}
    answer = await at.post("/v1/responses", body, **headers)
    return answer.status, answer.json.get("id", "")


async def test_what_one_server_answered_another_goes_on_from(redis: RealRedis, tmp_path: Path) -> None:
    known = options(redis, model=played(tmp_path))
    async with gateway(known) as one, gateway(known) as other:
        _, first = await responded(one, "what colour is the sky?")
        assert (await responded(other, "sure?", first))[0] == 200
        assert (await other.get(f"/v1/responses/{first}")).json["id"] == first
        assert (await other.ask("DELETE", f"/v1/responses/{first}")).status == 200
        assert (await one.get(f"/v1/responses/{first}")).status == 404
        assert (await responded(one, "sure?", first))[0] == 400


async def test_answers_are_those_of_the_key_that_asked(redis: RealRedis, tmp_path: Path) -> None:
    known = options(redis, model=played(tmp_path), keys=("one", "two"))
    async with gateway(known) as served, gateway(known) as other:
        _, first = await responded(served, "hello", X_Api_Key="one")
        assert (await responded(other, "and?", first, X_Api_Key="two"))[0] == 400
        assert (await other.ask("DELETE", f"/v1/responses/{first}", X_Api_Key="two")).status == 404
        assert (await responded(other, "and?", first, X_Api_Key="one"))[0] == 200


async def test_without_redis_they_are_too(tmp_path: Path) -> None:
    async with gateway(Options(model=played(tmp_path), keys=("one", "two"))) as served:
        _, first = await responded(served, "hello", X_Api_Key="one")
        assert (await served.get(f"/v1/responses/{first}", X_Api_Key="two")).status == 404
        assert (await served.get(f"/v1/responses/{first}", X_Api_Key="one")).status == 200


async def test_a_key_counts_everywhere_as_soon_as_it_is_made_and_until_it_is_taken_back(redis: RealRedis) -> None:
    ring = await KeyRing.at(Secret(redis.url))
    first = await ring.add("first")
    known = options(redis, host="0.0.0.0")
    async with gateway(known) as one, gateway(known) as other:

        async def lets_in(key: str) -> bool:
            answers = [(await each.get("/v1/models", X_Api_Key=key)).status for each in (one, other)]
            return answers == [200, 200]

        assert await lets_in(first)
        assert not await lets_in("first")
        second = await ring.add("second")
        await soon(lambda: lets_in(second))
        await ring.remove("second")
        await ring.remove("first")

        async def are_shut() -> bool:
            answers = [await each.get("/v1/models", X_Api_Key=key) for each in (one, other) for key in (first, second)]
            return [answer.status for answer in answers] == [401] * 4

        await soon(are_shut)
    await ring.close()


async def test_a_server_beyond_this_machine_needs_a_key_from_somewhere(redis: RealRedis) -> None:
    app = App(no_servers(), options(redis, host="0.0.0.0"))
    with pytest.raises(UsageError, match="needs a key") as raised:
        await app.start()
    assert "callgate keys add" in (raised.value.hint or "")


async def test_a_server_that_one_found_dead_is_avoided_by_the_other(redis: RealRedis) -> None:
    a, b = Upstream("a"), Upstream("b")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(upstreams(a, b))
        known = options(redis, aliases={"m": f"{a.url}#m,{b.url}#m"})
        one = await stack.enter_async_context(gateway(known))
        other = await stack.enter_async_context(gateway(known))

        async def chat(at: Gateway) -> str:
            answer = await at.post(
                "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "?"}]}
            )
            return str(answer.json["choices"][0]["message"]["content"])

        await chat(other), await chat(other)
        a.part = "fails"
        while a.chats < 2:  # its turn comes
            assert await chat(one) in ("I am a", "I am b")
        asked = a.chats

        async def is_out() -> bool:
            return bool((await other.get("/ready")).json["endpoints"]["out"] == 1)

        await soon(is_out)
        assert {await chat(other) for _ in range(6)} == {"I am b"}
        assert a.chats == asked
        a.part = "answers"

        async def both_answer() -> bool:
            return {await chat(other) for _ in range(4)} == {"I am a", "I am b"}

        await soon(both_answer)


async def test_what_one_validated_the_other_knows(
    redis: RealRedis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = ModelRef.parse("http://192.0.2.7:8000/v1#m")
    homes = [no_servers(storage__home=str(tmp_path / name)) for name in ("one", "two")]
    registries = [Registry.in_folder(each.data_folder) for each in homes]
    registries[0].update(
        ref,
        lambda _: {
            "name": "m",
            "validated_at": moment_of(1_700_000_000.0),
            "validated_suite": "s1",
            "validated_rates": {"native": 0.9},
            "tool_support": True,
            "tool_support_source": "profile",
        },
    )
    monkeypatch.setattr("callgate.gateway.sharing.membership.TELL_SECONDS", 0.1)
    async with gateway(options(redis), homes[0]), gateway(options(redis), homes[1]):
        await soon(lambda: registries[1].get(ref) is not None)
        learned = registries[1].get(ref)
        assert learned
        assert (learned.validated_suite, dict(learned.validated_rates)) == ("s1", {"native": 0.9})
        assert (learned.tool_support, learned.tool_support_source) == (True, "profile")
        registries[1].update(ref, lambda _: {"validated_at": moment_of(1_700_000_100.0), "validated_suite": "s2"})

        def is_back() -> bool:
            record = registries[0].get(ref)
            return record is not None and record.validated_suite == "s2"

        await soon(is_back)
        registries[0].update(
            ref,
            lambda _: {
                "tool_support": False,
                "tool_support_source": "user_confirmed",
                "validated_at": moment_of(1.7e9),
            },
        )
        registries[1].update(ref, lambda _: {"validated_at": moment_of(1_700_000_200.0), "validated_suite": "s3"})

        def is_newer() -> bool:
            record = registries[0].get(ref)
            return record is not None and record.validated_suite == "s3"

        await soon(is_newer)
        own = registries[0].get(ref)
        assert own
        assert (own.tool_support, own.tool_support_source) == (False, "user_confirmed")


def test_who_shares_nothing_loads_nothing_for_it() -> None:
    program = (
        "import asyncio, sys; from callgate.gateway import App, Options; app = App(options=Options());"
        "asyncio.run(app.start()); print([name for name in sys.modules if 'redis' in name or '.sharing' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environ(), capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


async def test_while_redis_is_away_each_goes_by_itself_and_no_request_fails(redis: RealRedis, tmp_path: Path) -> None:
    known = options(redis, model=played(tmp_path), keys=("k",))
    async with gateway(known) as one, gateway(known) as other:
        _, before = await responded(one, "hello", X_Api_Key="k")
        redis.kill()
        status, during = await responded(one, "and now?", before, X_Api_Key="k")
        assert status == 200
        assert (await responded(one, "and now?", during, X_Api_Key="k"))[0] == 200
        unknown = await other.post("/v1/responses", {"input": "?", "previous_response_id": during}, X_Api_Key="k")
        assert (unknown.status, unknown.headers["retry-after"].isdigit()) == (503, True)
        assert unknown.json["error"]["code"] != "previous_response_not_found"
        for method in ("GET", "DELETE"):
            assert (await other.ask(method, f"/v1/responses/{during}", X_Api_Key="k")).status == 503
        assert (await one.get("/ready")).json == {
            "status": "degraded",
            "endpoints": {"up": 1, "out": 0},
            "redis": "away",
        }
        assert b"callgate_redis_failures_total{" in (await one.get("/metrics", X_Api_Key="k")).body
        assert (await one.ask("DELETE", f"/v1/responses/{before}", X_Api_Key="k")).status == 200
        redis.start()

        async def are_up() -> bool:
            told = [(await each.get("/ready")).json["redis"] for each in (one, other)]
            return told == ["up", "up"]

        await soon(are_up)
        assert (await responded(one, "still?", during, X_Api_Key="k"))[0] == 200
        assert (await responded(other, "hello", "resp_nobodys", X_Api_Key="k"))[0] == 400
        _, after = await responded(one, "hello", X_Api_Key="k")
        assert (await responded(other, "hello", after, X_Api_Key="k"))[0] == 200


async def test_a_redis_that_hangs_costs_one_request_a_moment_and_the_next_none(
    redis: RealRedis, tmp_path: Path
) -> None:
    async with gateway(options(redis, model=played(tmp_path))) as served:
        redis.hang()
        _, first = await responded(served, "hello")
        assert (await served.get("/ready")).json["redis"] == "away"
        assert (await responded(served, "hello again", first))[0] == 200
        redis.start()


async def test_without_redis_at_the_start_there_is_no_server_and_no_password_in_what_is_said(redis: RealRedis) -> None:
    redis.kill()
    app = App(no_servers(), options(redis))
    with pytest.raises(Unreachable) as raised:
        await app.start()
    said = f"{raised.value.message} {raised.value.hint}"
    assert f"127.0.0.1:{redis.port}" in said
    assert "--redis" in said
    assert PASSWORD not in said


@pytest.mark.parametrize(
    "url",
    ["http://h", "redis://:secret-1@h:port", "redis://:secret-1@[h", "secret-1", "redis://:secret-1@h?db=secret-1"],
)
async def test_what_is_no_place_of_a_redis_is_said_so_without_what_is_secret(url: str) -> None:
    pytest.importorskip("redis")
    with pytest.raises((UsageError, Unreachable)) as raised:
        await App(no_servers(), Options(redis=Secret(url))).start()
    assert "secret-1" not in f"{raised.value!r} {raised.value.message} {raised.value.hint}"


async def test_a_wrong_password_is_said_to_be_wrong(redis: RealRedis) -> None:
    url = redis.url.replace(PASSWORD, "wrong-1")
    with pytest.raises(UsageError, match="refuses us") as raised:
        await App(no_servers(), Options(redis=Secret(url))).start()
    assert "wrong-1" not in f"{raised.value.message} {raised.value.hint}"


async def test_what_others_wrote_there_harms_nobody(redis: RealRedis, tmp_path: Path) -> None:
    known = options(redis, model=played(tmp_path), keys=("k",))
    async with gateway(known) as served:
        _, first = await responded(served, "hello", X_Api_Key="k")
        (place,) = redis.keys(f"{PREFIX}answer:*")
        assert place.endswith(f"/{first}")
        for content in (b"", b"\xff" * 100, b"[]", b'{"messages":1}', b"[" * 100_000, json.dumps({"a": {}}).encode()):
            redis.say("SET", place, content)
            for key in ("keys", "verdicts"):
                redis.say("SET", f"{PREFIX}{key}", content)
                redis.say("SET", f"{PREFIX}changes:{key}", str(len(content)))
            assert (await responded(served, "and?", first, X_Api_Key="k"))[0] == 400
            assert (await served.get(f"/v1/responses/{first}", X_Api_Key="k")).status == 404
        redis.say("DEL", f"{PREFIX}answers")
        redis.say("SET", f"{PREFIX}answers", "no set")
        assert (await responded(served, "hello", X_Api_Key="k"))[0] == 200
        assert (await served.get("/ready")).json["status"] == "ok"


async def test_all_that_is_there_begins_with_one_name_and_has_an_end(redis: RealRedis, tmp_path: Path) -> None:
    ring = await KeyRing.at(Secret(redis.url))
    key = await ring.add("somebody")
    async with gateway(options(redis, model=played(tmp_path))) as served:
        await responded(served, "hello", X_Api_Key=key)
    every = redis.keys()
    assert every
    assert all(each.startswith(PREFIX) for each in every)
    assert all(key not in redis.get(each).decode() for each in every if each == f"{PREFIX}keys")
    (answer,) = redis.keys(f"{PREFIX}answer:*")
    assert 86_000 < int(redis.say("TTL", answer)[1:]) <= 86_400
    await ring.close()
