from __future__ import annotations

import asyncio
import json
import re
import time
from pathlib import Path

import msgspec
import pytest

from callgate.gateway import Options, ServeLimits
from callgate.vocabulary import AssistantDelta, Done, ModelRef, ThinkingDelta, ToolCall, ToolCallEvent, Usage
from tests.gateway.running import MULTIPLY, PlayedServer, gateway, no_servers, recording

HELLO = {"messages": [{"role": "user", "content": "hello"}]}
STREAMED = {**HELLO, "stream": True}
ANSWER = (AssistantDelta("Hel"), AssistantDelta("lo"), Usage(3, 2), Done("stop"))
ERROR = {"error": {"type": "StreamFailed", "message": "the server caught fire", "hint": None}}


async def test_health_and_readiness_are_told_to_everybody() -> None:
    async with gateway(Options(keys=("secret",))) as served:
        assert (await served.get("/health")).json == {"status": "ok"}
        assert (await served.get("/ready")).status == 200
        assert (await served.ask("HEAD", "/")).status == 200
        assert (await served.get("/")).body == b"Ollama is running"
        await served.app.stop()
        assert (await served.get("/ready")).status == 503
        assert (await served.post("/v1/chat/completions", HELLO, Authorization="Bearer secret")).status == 503


async def test_readiness_counts_servers_not_models() -> None:
    async with gateway() as served:
        assert served.app._answering
        known = [
            served.app._answering.endpoints.of(ModelRef("openai", name, f"http://{server}:8000/v1"))
            for server, name in (("a", "m1"), ("a", "m2"), ("b", "m1"))
        ]
        assert (await served.get("/ready")).json == {"status": "ok", "endpoints": {"up": 2, "out": 0}}
        known[1].fail(began=time.monotonic())
        assert (await served.get("/ready")).json == {"status": "degraded", "endpoints": {"up": 1, "out": 1}}


async def test_every_answer_says_who_gives_it() -> None:
    async with gateway() as served:
        for path in ("/health", "/nowhere", "/api/version", "/v1/models"):
            headers = (await served.get(path)).headers
            assert headers["server"] == "callgate"
            assert headers["x-callgate"]


async def test_errors_come_in_the_words_of_the_path() -> None:
    async with gateway() as served:
        assert (await served.get("/v1/nowhere")).json["error"]["type"] == "invalid_request_error"
        assert (await served.get("/api/nowhere")).json == {"error": "there is nothing at this path"}
        wrong = await served.get("/api/chat")
        assert wrong.status == 405
        assert "POST" in wrong.json["error"]


async def test_an_answer_comes_whole_or_in_pieces(tmp_path: Path) -> None:
    options = Options(model=recording(tmp_path / "said", ANSWER, ANSWER))
    async with gateway(options) as served:
        whole = await served.post("/v1/chat/completions", HELLO)
        assert whole.status == 200
        assert whole.headers["x-callgate-mode"] == "off"
        assert whole.json["choices"][0]["message"]["content"] == "Hello"
        assert whole.json["usage"] == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        assert "callgate" not in whole.json
        pieces = await served.post("/v1/chat/completions", STREAMED)
        assert pieces.headers["content-type"] == "text/event-stream"
        *chunks, last = pieces.events
        assert last == "[DONE]"
        assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == "Hello"
        assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


async def test_an_explanation_tells_what_was_done(tmp_path: Path) -> None:
    call = ToolCallEvent(ToolCall("1", "multiply", {"a": "17", "b": 23}))
    options = Options(explain=True, model=recording(tmp_path / "said", (call, Done("tool_calls"))))
    async with gateway(options) as served:
        answer = await served.post("/v1/chat/completions", {**HELLO, "tools": [MULTIPLY]})
    assert answer.headers["x-callgate-mode"] == "native"
    choice = answer.json["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"a": 17, "b": 23}
    explained = answer.json["callgate"]
    assert explained["mode"] == "native"
    assert [(repair["path"], repair["from"], repair["to"]) for repair in explained["repairs"]] == [("/a", "17", 17)]


@pytest.mark.parametrize(("path", "openai"), [("/v1/chat/completions", True), ("/api/chat", False)])
async def test_an_error_in_the_middle_is_told_in_the_stream_which_has_no_end(
    tmp_path: Path, path: str, openai: bool
) -> None:
    options = Options(model=recording(tmp_path / "said", (AssistantDelta("Hel"), ERROR)))
    async with gateway(options) as served:
        answer = await served.post(path, STREAMED)
    assert answer.status == 200
    last = answer.events[-1] if openai else answer.lines[-1]
    assert "caught fire" in (last["error"]["message"] if openai else last["error"])
    assert b"[DONE]" not in answer.body


async def test_an_error_before_the_first_word_has_a_status(tmp_path: Path) -> None:
    async with gateway(Options(model=recording(tmp_path / "said", (ERROR,), (AssistantDelta("Hel"), ERROR)))) as served:
        assert (await served.post("/v1/chat/completions", STREAMED)).status == 502
        assert (await served.post("/v1/chat/completions", HELLO)).status == 502


async def test_another_model_takes_over_before_the_first_word(tmp_path: Path) -> None:
    broken, sound = recording(tmp_path / "a", (ERROR,)), recording(tmp_path / "b", ANSWER)
    async with gateway(Options(model=broken, fallback=sound, explain=True)) as served:
        answer = await served.post("/v1/chat/completions", STREAMED)
    assert answer.status == 200
    assert answer.events[-2]["callgate"]["notices"][0]["kind"] == "model_changed"
    assert answer.events[0]["model"] == sound.removeprefix("scripted:")


async def test_a_client_that_goes_away_stops_the_model() -> None:
    played = PlayedServer()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        for stream in (True, False):
            played.was_left.clear()
            body = json.dumps({**HELLO, "stream": stream})
            reader, writer = await asyncio.open_connection("127.0.0.1", int(served.url.rpartition(":")[2]))
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write((head + body).encode())
            if stream:
                assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
            else:
                await played.until_asked(2)
            writer.close()
            async with asyncio.timeout(20):
                await played.was_left.wait()
        assert b'status="499"' in (await served.get("/metrics")).body
        assert b"callgate_requests_in_flight 1\n" in (await served.get("/metrics")).body  # which is this one


async def test_an_upstream_that_breaks_off_is_an_error_for_the_client() -> None:
    played = PlayedServer()
    played.go_on.set()
    played.breaks_off = True
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        streamed = await served.post("/v1/chat/completions", STREAMED)
        assert "error" in streamed.events[-1]
        assert (await served.post("/v1/chat/completions", HELLO)).status == 502


async def test_a_clients_key_never_goes_further() -> None:
    played = PlayedServer()
    played.go_on.set()
    options = Options(keys=("secret",))
    async with played.served() as url, gateway(msgspec.structs.replace(options, model=f"{url}/v1#slow")) as served:
        assert (await served.post("/v1/chat/completions", HELLO, Authorization="Bearer secret")).status == 200
    assert played.headers
    assert not any("secret" in value for headers in played.headers for value in headers.values())


async def test_answers_take_no_longer_than_they_may() -> None:
    played = PlayedServer()
    async with played.served() as url:
        options = Options(model=f"{url}/v1#slow", limits=ServeLimits(seconds=0.2))
        async with gateway(options) as served:
            assert (await served.post("/v1/chat/completions", HELLO)).status == 504
            streamed = await served.post("/v1/chat/completions", STREAMED)
            assert streamed.status == 200
            assert "took more than" in streamed.events[-1]["error"]["message"]


async def test_no_more_answers_at_once_than_there_may_be() -> None:
    played = PlayedServer()
    limits = ServeLimits(at_once=1)
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow", limits=limits)) as served:
        first = asyncio.create_task(served.post("/v1/chat/completions", STREAMED))
        await played.until_asked()
        refused = await served.post("/v1/chat/completions", STREAMED)
        assert refused.status == 503
        assert refused.headers["retry-after"] == "1"
        played.go_on.set()
        assert (await first).events[-1] == "[DONE]"
        assert (await served.post("/v1/chat/completions", STREAMED)).status == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b"\xff", 400),
        (b'{"messages": 3}', 400),
        (b'{"messages": []}', 400),
        (b'{"messages": [{"role": "nobody"}]}', 400),
        (b'{"messages": [{"role": "user", "content": "x"}], "x": ' + b"[" * 100 + b"]" * 100 + b"}", 400),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (b'{"messages": [{"role": "user", "content": "' + b"x" * 300_000 + b'"}]}', 413),
        (json.dumps({**HELLO, "tools": [MULTIPLY] * 3}).encode(), 400),
    ],
)
async def test_what_is_no_request_is_refused(tmp_path: Path, body: bytes, status: int) -> None:
    limits = ServeLimits(body_bytes=250_000, tools=2)
    async with gateway(Options(model=recording(tmp_path / "said", ANSWER), limits=limits)) as served:
        answer = await served.post("/v1/chat/completions", body)
        assert answer.status == status
        assert answer.json["error"]["message"]


async def test_a_server_that_asks_itself_is_told_so() -> None:
    async with gateway() as served:
        loop = no_servers(served.url)
        options = Options(instance="same", model="ollama:whatever")
        async with gateway(options, loop) as inner:
            assert (await inner.get("/api/tags", X_Callgate_Hops="other,same")).status == 508
            assert (await inner.get("/api/tags", X_Callgate_Hops="other")).status == 200


async def test_an_ollama_host_that_leads_back_is_a_loop_with_its_cause() -> None:
    played = PlayedServer()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        # The address is known only now.
        served.app._settings = no_servers(served.url)
        served.app._options = msgspec.structs.replace(served.app._options, model="ollama:anything")
        await served.app.stop()
        await served.app.start()
        answer = await served.post("/api/chat", {**HELLO, "model": "ollama:anything"})
        assert answer.status == 508
        assert "OLLAMA_HOST" in answer.json["error"]
        assert (await served.get("/api/tags")).status == 200


async def test_answers_that_break_off_are_counted_and_noted(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    cut = recording(tmp_path / "said", (AssistantDelta("Hel"), ERROR))
    async with gateway(Options(model=cut, access_log=str(log))) as served:
        assert "error" in (await served.post("/v1/chat/completions", STREAMED)).events[-1]
        written = (await served.get("/metrics")).body.decode()
        found = re.findall(r'callgate_broken_answers_total{route="(.*?)",model=".*?",error="(.*?)"} (\d+)', written)
        assert found == [("/v1/chat/completions", "StreamFailed", "1")]
        assert json.loads(log.read_text().splitlines()[0])["error"] == "StreamFailed"
    slow = PlayedServer()
    async with slow.served() as url:
        options = Options(model=f"{url}/v1#slow", limits=ServeLimits(seconds=0.3), access_log=str(log))
        async with gateway(options) as served:
            assert "error" in (await served.post("/v1/chat/completions", STREAMED)).events[-1]
            assert 'error="too_slow"} 1' in (await served.get("/metrics")).body.decode()
        assert '"error":"too_slow"' in log.read_text()


async def test_metrics_count_what_happened_and_quote_nothing(tmp_path: Path) -> None:
    call = ToolCallEvent(ToolCall("1", "multiply", {"a": "17", "b": 23}))
    said = (ThinkingDelta("hm"), call, Usage(7, 5), Done("tool_calls"))
    async with gateway(Options(model=recording(tmp_path / "said", said))) as served:
        await served.post("/v1/chat/completions", {**HELLO, "tools": [MULTIPLY]})
        written = (await served.get("/metrics")).body.decode()
    name = str(tmp_path / "said")
    assert f'callgate_requests_total{{route="/v1/chat/completions",model="{name}",status="200"}} 1\n' in written
    assert f'callgate_tokens_total{{model="{name}",kind="prompt"}} 7\n' in written
    assert f'callgate_tool_calls_total{{model="{name}",mode="native"}} 1\n' in written
    assert "callgate_repairs_total{" in written
    assert f'callgate_first_token_seconds_count{{model="{name}"}} 1\n' in written
    assert "hello" not in written


async def test_the_access_log_has_no_bodies(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="callgate.gateway.access")
    async with gateway(Options(model=recording(tmp_path / "said", ANSWER))) as served:
        await served.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "a great secret"}]})
        await served.get("/v1/models/a-great-secret")
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "callgate.gateway.access"]
    assert [line["status"] for line in lines] == [200, 404]
    assert lines[0]["completion_tokens"] == 2
    assert "secret" not in caplog.text


async def test_what_a_model_that_nobody_knows_thought_before_its_calls_goes_back_to_it() -> None:
    played = PlayedServer()
    played.go_on.set()
    call = {"id": "1", "type": "function", "function": {"name": "multiply", "arguments": '{"a":17,"b":23}'}}
    messages = [
        {"role": "user", "content": "What is 17 times 23?"},
        {"role": "assistant", "content": "", "reasoning_content": "I multiply.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "391"},
    ]
    known = no_servers(tools__strategy="native")
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow"), known) as served:
        await served.post("/v1/chat/completions", {"messages": messages, "tools": [MULTIPLY], "stream": True})
        assert played.asked[-1]["messages"][1]["reasoning_content"] == "I multiply."
