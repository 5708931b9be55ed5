"""Prompts that are longer than the context: every dialect has words for that, which agents look for."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from callgate.gateway import Options
from callgate.gateway.dialect import OVERLONG, Failure
from callgate.gateway.writing.messages import MessageWriter
from callgate.gateway.writing.responses import Asked, ResponseWriter
from tests.gateway.dialects.test_anthropic import events_of
from tests.gateway.running import gateway, no_servers
from tests.wire.server import serving

SAID = "request (21008 tokens) exceeds the available context size (4096 tokens), try increasing it"
ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "hello"}]},
    "/v1/messages": {"max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]},
    "/v1/responses": {"input": "hello"},
    "/api/chat": {"messages": [{"role": "user", "content": "hello"}]},
}


async def models(_: web.Request) -> web.StreamResponse:
    return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})


async def refuse(_: web.Request) -> web.StreamResponse:
    error = {"code": 400, "message": SAID, "type": "exceed_context_size_error", "n_prompt_tokens": 21008, "n_ctx": 4096}
    return web.json_response({"error": error}, status=400)


@pytest.mark.parametrize("path", list(ASKED))
@pytest.mark.parametrize("stream", [False, True])
async def test_a_prompt_that_is_too_long_is_refused_in_the_words_that_clients_know(path: str, stream: bool) -> None:
    async with serving(("GET", "/v1/models", models), ("POST", "/v1/chat/completions", refuse)) as url:
        refs = f"{url}/v1#m,{url}/v1#other"
        async with gateway(Options(model="m", aliases={"m": refs}), no_servers()) as served:
            answer = await served.post(path, {**ASKED[path], "model": "m", "stream": stream})
            counted = (await served.get("/metrics")).body.decode()
    assert "callgate_failovers_total{" not in counted, "the other one would say the same"
    if stream and path == "/v1/responses":
        assert answer.status == 200, "agents of OpenAI's look for it among the events, and know there what to do"
        *_, last = events_of(answer.body)
        assert (last["type"], last["response"]["error"]["code"]) == ("response.failed", "context_length_exceeded")
        return
    assert answer.status == 400
    error = answer.json["error"]
    match path:
        case "/v1/messages":
            assert error["type"] == "invalid_request_error"
            assert error["message"].startswith("prompt is too long: 21008 tokens > 4096 maximum")
        case "/api/chat":
            assert "21,008 tokens" in error
        case _:
            assert (error["type"], error["code"]) == ("invalid_request_error", "context_length_exceeded")
            assert "maximum context length is 4096 tokens" in error["message"]
            assert error["param"] == ("input" if path == "/v1/responses" else "messages")


async def test_a_stream_that_has_begun_says_it_in_the_same_words() -> None:
    failure = Failure(status=400, kind=OVERLONG, message="it is too long")
    (error,) = events_of(MessageWriter("m").fail(failure))
    assert error["error"] == {"type": "invalid_request_error", "message": "prompt is too long: it is too long"}
    *_, last = events_of(ResponseWriter("m", asked=Asked({}, (), {}, stores=False)).fail(failure))
    assert last["type"] == "response.failed"
    assert last["response"]["error"]["code"] == "context_length_exceeded"
