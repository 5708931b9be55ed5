"""Clients that wait: they hear that somebody is there, and nothing of it is an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from callgate.gateway import Options
from tests.gateway.dialects.test_anthropic import events_of
from tests.gateway.running import Answered, Gateway, PlayedServer, gateway
from tests.gateway.upstreams import Upstream
from tests.wire.server import serving

OFTEN = 0.05
CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
ASKED: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [{"role": "user", "content": "hello"}]},
    MESSAGES: {"max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]},
    RESPONSES: {"input": "hello"},
}
SIGN = {CHAT: b": keep-alive\n\n", MESSAGES: b'event: ping\ndata: {"type":"ping"}\n\n', RESPONSES: b": keep-alive\n\n"}
every_dialect = pytest.mark.parametrize("path", list(ASKED))


@asynccontextmanager
async def failing(fail: asyncio.Event) -> AsyncIterator[str]:
    """A server with the model `m` that takes its time, and then fails."""

    async def models(_: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})

    async def chat(_: web.Request) -> web.StreamResponse:
        await fail.wait()
        return web.json_response({"error": {"message": "caught fire"}}, status=500)

    async with serving(("GET", "/v1/models", models), ("POST", "/v1/chat/completions", chat)) as url:
        try:
            yield f"{url}/v1"
        finally:
            fail.set()


@asynccontextmanager
async def waiting(served: Gateway, path: str, model: str = "") -> AsyncIterator[aiohttp.ClientResponse]:
    body = {**ASKED[path], "stream": True, **({"model": model} if model else {})}
    async with asyncio.timeout(30), served.http.post(served.url + path, json=body) as response:
        yield response


async def until(response: aiohttp.ClientResponse, sign: bytes, times: int) -> bytes:
    """What has come when it was there so often."""
    heard = b""
    while heard.count(sign) < times:
        heard += await response.content.readany()
        assert not response.content.at_eof(), heard
    return heard


def said(path: str, heard: bytes) -> str:
    without = heard.replace(SIGN[CHAT], b"")
    if path == CHAT:
        chunks = Answered(200, {}, without).events
        return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks if chunk != "[DONE]")
    events = events_of(without)
    if path == MESSAGES:
        return "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
    return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")


@every_dialect
async def test_a_client_hears_something_before_the_first_word(path: str) -> None:
    upstream = Upstream("a", "loads for long")
    upstream.hold.clear()
    await upstream.start()
    try:
        options = Options(model=f"{upstream.url}#m", ping_every=OFTEN)
        async with gateway(options) as served, waiting(served, path) as response:
            assert response.status == 200
            assert response.headers["x-callgate-mode"] == "off"
            heard = await until(response, SIGN[path], 3)
            upstream.hold.set()
            heard += await response.content.read()
        if path == MESSAGES:
            assert [event["type"] for event in events_of(heard)][:2] == ["message_start", "ping"]
            assert heard.count(b"event: message_start") == 1
        if path == RESPONSES:
            assert heard.startswith(b"event: response.created")
            numbers = [event["sequence_number"] for event in events_of(heard.replace(SIGN[path], b""))]
            assert numbers == list(range(len(numbers)))
        assert said(path, heard) == "I am a"
    finally:
        await upstream.stop()


@every_dialect
async def test_another_server_may_still_take_over(path: str) -> None:
    fail, other = asyncio.Event(), Upstream("b")
    await other.start()
    try:
        async with failing(fail) as url:
            options = Options(aliases={"both": f"{url}#m,{other.url}#m"}, ping_every=OFTEN)
            async with gateway(options) as served, waiting(served, path, "both") as response:
                heard = await until(response, SIGN[path], 2)
                fail.set()
                heard += await response.content.read()
        assert said(path, heard) == "I am b"
    finally:
        await other.stop()


@every_dialect
async def test_an_error_after_a_sign_is_told_in_the_stream(path: str) -> None:
    fail = asyncio.Event()
    async with failing(fail) as url, gateway(Options(model=f"{url}#m", ping_every=OFTEN)) as served:
        async with waiting(served, path) as response:
            heard = await until(response, SIGN[path], 2)
            fail.set()
            heard += await response.content.read()
        metrics = (await served.get("/metrics")).body.decode()
    assert f'callgate_broken_answers_total{{route="{path}",model="m",error="BadStatus"}} 1' in metrics
    last = heard.replace(SIGN[CHAT], b"").removesuffix(b"\n\n").rpartition(b"\n\n")[2]
    assert b"caught fire" in last


@every_dialect
async def test_a_client_that_goes_after_a_sign_is_not_worked_for(path: str) -> None:
    async with failing(asyncio.Event()) as url, gateway(Options(model=f"{url}#m", ping_every=OFTEN)) as served:
        async with waiting(served, path) as response:
            await until(response, SIGN[path], 1)
            response.close()
        async with asyncio.timeout(20):
            while "callgate_requests_in_flight 1\n" not in (await served.get("/metrics")).body.decode():
                pass
        metrics = (await served.get("/metrics")).body.decode()
    assert f'callgate_requests_total{{route="{path}",model="m",status="' in metrics


async def test_silence_in_the_middle_is_filled_too() -> None:
    upstream = Upstream("a")
    upstream.hold.clear()
    await upstream.start()
    try:
        options = Options(model=f"{upstream.url}#m", ping_every=OFTEN)
        async with gateway(options) as served, waiting(served, MESSAGES) as response:
            heard = await until(response, SIGN[MESSAGES], 4)
            assert b"I am " in heard
            upstream.hold.set()
            heard += await response.content.read()
        assert said(MESSAGES, heard) == "I am a"
        assert events_of(heard)[-1]["type"] == "message_stop"
    finally:
        await upstream.stop()


async def test_nothing_is_said_where_nobody_has_to_wait() -> None:
    played = PlayedServer()
    played.go_on.set()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        assert b"keep-alive" not in (await served.post(CHAT, {**ASKED[CHAT], "stream": True})).body


@pytest.mark.parametrize(("stream", "every"), [(True, 0), (False, OFTEN)])
async def test_an_error_keeps_its_status_where_nothing_was_said(stream: bool, every: float) -> None:
    fail = asyncio.Event()
    async with failing(fail) as url, gateway(Options(model=f"{url}#m", ping_every=every)) as served:
        asking = asyncio.create_task(served.post(CHAT, {**ASKED[CHAT], "stream": stream}))
        async with gateway(Options(model=f"{url}#m", ping_every=OFTEN)) as other, waiting(other, CHAT) as response:
            await until(response, SIGN[CHAT], 3)
        fail.set()
        assert (await asking).status == 502


async def test_an_ollama_client_gets_lines_of_its_answer_alone() -> None:
    upstream = Upstream("a", "loads for long")
    upstream.hold.clear()
    await upstream.start()
    try:
        async with gateway(Options(model=f"{upstream.url}#m", ping_every=OFTEN)) as served:
            body = {"model": "", "messages": [{"role": "user", "content": "hello"}]}
            asking = asyncio.create_task(served.post("/api/chat", body))
            await upstream.until(CHAT, 1)
            async with waiting(served, CHAT) as response:
                await until(response, SIGN[CHAT], 3)
                upstream.hold.set()
                await response.content.read()
            answer = await asking
        assert "".join(line["message"]["content"] for line in answer.lines) == "I am a"
    finally:
        await upstream.stop()
