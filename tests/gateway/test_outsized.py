"""Prompts that can't fit, whatever they are made of, cost nobody anything."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from callgate.gateway import Options
from callgate.gateway.outsized import BYTES_PER_TOKEN, LONG
from tests.gateway.running import gateway, no_servers
from tests.wire.server import serving

ROOM = LONG // BYTES_PER_TOKEN
PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat")


def asked(path: str, text: str, **more: object) -> dict[str, Any]:
    if path == "/v1/responses":
        return {"input": text, **more}
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 5, "stream": False, **more}


class Vllm:
    """A server that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def models(self, _: web.Request) -> web.StreamResponse:
        model = {"id": "m", "object": "model", "owned_by": "vllm", "max_model_len": ROOM}
        return web.json_response({"object": "list", "data": [model]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.asked += 1
        choice = {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice]})


@pytest.mark.parametrize("path", PATHS)
async def test_what_cannot_fit_never_reaches_the_server_and_what_could_does(path: str) -> None:
    played = Vllm()
    handlers = (("GET", "/v1/models", played.models), ("POST", "/v1/chat/completions", played.chat))
    async with (
        serving(*handlers) as url,
        gateway(Options(model=f"{url}/v1#m"), no_servers()) as served,
    ):
        fits = await served.post(path, asked(path, " " * LONG))
        assert (fits.status, played.asked) == (200, 1)
        never = await served.post(path, asked(path, " " * (LONG + 1)))
        if path == "/api/chat":
            assert (never.status, played.asked) == (200, 2), "its clients let a server cut what is too long"
            return
        assert (never.status, played.asked) == (400, 1)
        assert f"{ROOM}" in never.json["error"]["message"].replace(",", "")


async def test_how_long_it_is_can_still_be_asked() -> None:
    played = Vllm()
    async with (
        serving(("GET", "/v1/models", played.models)) as url,
        gateway(Options(model=f"{url}/v1#m"), no_servers()) as served,
    ):
        counted = await served.post("/v1/messages/count_tokens", asked("/v1/messages", "x" * 2 * LONG))
        assert (counted.status, counted.json["callgate"]) == (200, {"estimate": True})
        assert counted.json["input_tokens"] > ROOM
