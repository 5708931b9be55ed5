"""OpenAI-compatible servers that play their part behind the gateway: they answer, fail, hang, go away and come back."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

from aiohttp import web

Part = Literal["answers", "fails", "is busy", "refuses", "hangs", "loads for long", "cuts off", "lists nothing"]


class Upstream:
    """Plays `part`, with one model, `m`."""

    def __init__(self, name: str, part: Part = "answers", *, model: str = "m") -> None:
        self.name, self.part, self.model = name, part, model
        self.asked: Counter[str] = Counter()
        self.now = 0
        self.most = 0
        """Chats at the same time."""
        self.hold = asyncio.Event()
        """Answers wait for it."""
        self.hold.set()
        self.url = ""
        self._port = 0
        self._runner: web.AppRunner | None = None
        self._news = asyncio.Event()

    async def start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self._port}/v1"

    async def stop(self) -> None:
        self.hold.set()
        if self._runner:
            runner, self._runner = self._runner, None
            await runner.cleanup()

    async def until(self, path: str, times: int) -> None:
        async with asyncio.timeout(20):
            while self.asked[path] < times:
                self._news.clear()
                await self._news.wait()

    @property
    def chats(self) -> int:
        return self.asked["/v1/chat/completions"]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] += 1
        self._news.set()
        if self.part == "hangs":
            await asyncio.sleep(3600)
        match request.path, self.part:
            case _, "fails":
                return web.json_response({"error": {"message": "caught fire"}}, status=500)
            case _, "is busy":
                return web.json_response({"error": {"message": "too much to do"}}, status=429)
            case "/v1/models", "lists nothing":
                return web.json_response({"error": {"message": "not now"}}, status=500)
            case "/v1/models", _:
                return web.json_response({"object": "list", "data": [{"id": self.model, "object": "model"}]})
            case "/v1/chat/completions", "refuses":
                return web.json_response({"error": {"message": "temperature is too high"}}, status=400)
            case "/v1/chat/completions", _:
                self.now += 1
                self.most = max(self.most, self.now)
                try:
                    return await self._chat(request)
                finally:
                    self.now -= 1
            case "/v1/embeddings", _:
                return web.json_response({"object": "list", "data": [{"index": 0, "embedding": [1.0, 2.0]}]})
        return web.Response(status=404)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        if self.part == "loads for long":
            await self.hold.wait()
        if not body.get("stream"):
            await self.hold.wait()
            message = {"role": "assistant", "content": f"I am {self.name}"}
            return web.json_response({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(_chunk({"delta": {"role": "assistant", "content": "I am "}, "finish_reason": None}))
        await self.hold.wait()
        if self.part != "cuts off":
            await response.write(_chunk({"delta": {"content": self.name}, "finish_reason": "stop"}))
            await response.write(b"data: [DONE]\n\n")
        return response


@asynccontextmanager
async def upstreams(*those: Upstream) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for each in those:
            await each.start()
            stack.push_async_callback(each.stop)
        yield


def _chunk(choice: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, **choice}]}).encode() + b"\n\n"
