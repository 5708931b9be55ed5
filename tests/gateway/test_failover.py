from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callgate.gateway import Options, endpoints
from callgate.settings import Settings
from callgate.vocabulary import AssistantDelta, Done
from tests.gateway.running import Answered, Gateway, gateway, no_servers, recording
from tests.gateway.upstreams import Part, Upstream, upstreams
from tests.runtime.played import WITH_TOOLS, PlayedOllama
from tests.wire.server import serving

HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
STREAMED = {**HELLO, "stream": True}
ANSWER = (AssistantDelta("Hello"), Done("stop"))


def behind(*those: Upstream) -> Settings:
    return no_servers(discovery__endpoints=",".join(f"{each.name}={each.url}" for each in those))


async def ask(served: Gateway, body: object = HELLO) -> Answered:
    return await served.post("/v1/chat/completions", body)


def said(answer: Answered) -> str:
    assert answer.status == 200, answer.body
    text: str = answer.json["choices"][0]["message"]["content"]
    return text


async def test_one_model_at_two_servers_is_listed_once_and_asked_in_turn() -> None:
    a, b = Upstream("a"), Upstream("b")
    async with upstreams(a, b), gateway(Options(), behind(a, b)) as served:
        ids = [model["id"] for model in (await served.get("/v1/models")).json["data"]]
        assert ids == ["m", "tiny", "tiny-plain"]
        answers = [said(await ask(served)) for _ in range(4)]
        assert sorted(answers) == ["I am a", "I am a", "I am b", "I am b"]
        # Whoever wants one of them names it whole.
        only = {**HELLO, "model": f"{b.url}#m"}
        assert [said(await ask(served, only)) for _ in range(3)] == ["I am b"] * 3


async def test_the_less_busy_server_is_asked() -> None:
    a, b = Upstream("a"), Upstream("b")
    async with upstreams(a, b), gateway(Options(), behind(a, b)) as served:
        a.hold.clear()
        b.hold.clear()
        waiting = [asyncio.create_task(ask(served)) for _ in range(6)]
        await asyncio.gather(a.until("/v1/chat/completions", 3), b.until("/v1/chat/completions", 3))
        b.hold.set()
        for number, answered in enumerate(asyncio.as_completed(waiting), start=1):
            assert said(await answered) == "I am b"
            if number == 3:
                break
        assert [said(await ask(served)) for _ in range(3)] == ["I am b"] * 3
        written = (await served.get("/metrics")).body.decode()
        assert f'callgate_endpoint_in_flight{{endpoint="{a.url}",model="m"}} 3\n' in written
        assert f'callgate_endpoint_in_flight{{endpoint="{b.url}",model="m"}} 0\n' in written
        a.hold.set()
        assert len(await asyncio.gather(*waiting)) == 6


@pytest.mark.parametrize("body", [HELLO, STREAMED])
@pytest.mark.parametrize("part", ["fails", "is busy", "gone"])
async def test_another_server_takes_over_before_the_first_word(
    part: Part | str, body: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("FIRST_PAUSE", "BUSY_PAUSE"):
        monkeypatch.setattr(endpoints, pause, 60.0)
    a, b = Upstream("a"), Upstream("b")
    async with upstreams(a, b), gateway(Options(explain=True), behind(a, b)) as served:
        assert (await served.get("/v1/models")).status == 200
        if part == "gone":
            await a.stop()
        else:
            a.part = part  # type: ignore[assignment]
        answers = [await ask(served, body) for _ in range(4)]
        assert [answer.status for answer in answers] == [200] * 4
        assert all(b"I am " in answer.body and b"model_changed" not in answer.body for answer in answers)
        assert sum(b"endpoint_changed" in answer.body for answer in answers) == 1
        written = (await served.get("/metrics")).body.decode()
        assert f'callgate_endpoint_up{{endpoint="{a.url}",model="m"}} 0\n' in written
        assert f'callgate_endpoint_up{{endpoint="{b.url}",model="m"}} 1\n' in written
        assert f'callgate_endpoint_failures_total{{endpoint="{a.url}",model="m"}} 1\n' in written
        assert 'callgate_failovers_total{model="m",to="endpoint"} 1\n' in written
        ready = await served.get("/ready")
        assert ready.status == 200
        assert ready.json == {"status": "degraded", "endpoints": {"up": 1, "out": 1}}


async def test_what_is_wrong_with_a_request_is_told_by_the_first_who_sees_it() -> None:
    a, b = Upstream("a", "refuses"), Upstream("b", "refuses")
    async with upstreams(a, b), gateway(Options(), behind(a, b)) as served:
        assert (await ask(served)).status == 400
        assert a.chats + b.chats == 1
        await a.stop()
        # Also where another one failed before.
        assert [(await ask(served)).status for _ in range(2)] == [400, 400]


async def test_an_answer_that_breaks_off_isnt_begun_anew_but_its_server_has_a_pause() -> None:
    a, b = Upstream("a", "cuts off"), Upstream("b")
    async with upstreams(a, b), gateway(Options(), behind(a, b)) as served:
        first, *rest = [await ask(served, STREAMED) for _ in range(4)]
        assert "error" in first.events[-1]
        assert all(answer.events[-1] == "[DONE]" for answer in rest)
        assert a.chats == 1


async def test_when_all_servers_fail_the_first_cause_is_told_and_then_the_next_model_is_asked(tmp_path: Path) -> None:
    a, b = Upstream("a", "fails"), Upstream("b", "fails")
    known = behind  # the addresses are known only later
    async with upstreams(a, b):
        a.part = b.part = "answers"
        async with gateway(Options(), known(a, b)) as served:
            assert (await ask(served)).status == 200
            a.part = b.part = "fails"
            assert [(await ask(served)).status for _ in range(3)] == [502, 502, 502]
        a.part = b.part = "answers"
        sound = recording(tmp_path / "said", ANSWER)
        async with gateway(Options(fallback=sound, explain=True), known(a, b)) as served:
            assert (await served.get("/v1/models")).status == 200
            a.part = b.part = "fails"
            answer = await ask(served)
            assert answer.json["choices"][0]["message"]["content"] == "Hello"
            kinds = [notice["kind"] for notice in answer.json["callgate"]["notices"]]
            assert kinds == ["endpoint_changed", "model_changed"]


async def test_an_alias_may_stand_for_several() -> None:
    a, b = Upstream("a"), Upstream("b", model="n")
    async with upstreams(a, b):
        options = Options(aliases={"fast": f"{a.url}#m, {b.url}#n"})
        async with gateway(options) as served:
            fast = {**HELLO, "model": "fast"}
            answers = [await ask(served, fast) for _ in range(4)]
            assert sorted(map(said, answers)) == ["I am a", "I am a", "I am b", "I am b"]
            assert {answer.json["model"] for answer in answers} == {"fast"}
            await a.stop()
            assert [said(await ask(served, fast)) for _ in range(4)] == ["I am b"] * 4


async def test_vectors_come_from_another_server_but_never_from_another_model(tmp_path: Path) -> None:
    a, b = Upstream("a"), Upstream("b")
    options = Options(fallback=recording(tmp_path / "said", ANSWER))
    async with upstreams(a, b), gateway(options, behind(a, b)) as served:
        assert (await served.get("/v1/models")).status == 200
        a.part = "fails"
        for _ in range(3):
            answer = await served.post("/v1/embeddings", {"model": "m", "input": "x"})
            assert answer.json["data"][0]["embedding"] == [1.0, 2.0]
        b.part = "fails"
        assert (await served.post("/v1/embeddings", {"model": "m", "input": "x"})).status == 502


async def test_a_bare_name_is_the_model_wherever_it_is() -> None:
    ollama = PlayedOllama(qwen3__8b=WITH_TOOLS)
    async with serving(*ollama.routes) as url:
        known = no_servers(discovery__endpoints=f"den=ollama+{url}")
        async with gateway(Options(aliases={"gpt": "qwen3:8b"}, model="qwen3:8b"), known) as served:
            for name in ("gpt", "", "qwen3:8b"):
                await served.post("/api/chat", {**HELLO, "model": name})
        assert ollama.asked["/api/chat"] == 3


async def test_a_server_that_restarts_keeps_its_models() -> None:
    a = Upstream("a")
    async with upstreams(a), gateway(Options(), behind(a)) as served:
        assert said(await ask(served)) == "I am a"
        await a.stop()
        served.app._answering._catalogue._looked_at = 0  # type: ignore[union-attr]
        assert "m" in [model["id"] for model in (await served.get("/v1/models")).json["data"]]
        assert (await ask(served)).status == 502
        await a.start()
        assert said(await ask(served)) == "I am a"


async def test_a_password_of_a_server_is_told_to_no_client() -> None:
    a = Upstream("a")
    async with upstreams(a):
        url = a.url.replace("://", "://me:secret@")
        known = no_servers(discovery__endpoints=f"a={url}")
        async with gateway(Options(explain=True, aliases={"x": f"{url}#m"}), known) as served:
            for path in ("/v1/models", "/v1/models/m", "/api/tags", "/metrics"):
                assert b"secret" not in (await served.get(path)).body
            for model in ("m", "x", f"{a.url}#m"):
                answer = await ask(served, {**HELLO, "model": model})
                assert answer.status == 200
                assert b"secret" not in answer.body
