"""An OpenAI-compatible server that plays models on loopback: each answers as it is told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.wire.server import Handler

Body = dict[str, Any]
Play = Callable[["Reply", Body], Awaitable[None]]


class Reply:
    """One streamed answer."""

    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response

    async def send(self, delta: dict[str, Any], finish: str | None = None, **more: object) -> None:
        chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}], **more}
        if finish:
            chunk["choices"][0]["finish_reason"] = finish  # type: ignore[index]
        await self._response.write(f"data: {json.dumps(chunk)}\n\n".encode())

    async def text(self, *pieces: str) -> None:
        for piece in pieces:
            await self.send({"content": piece})
        await self.end()

    async def call(self, name: str, **arguments: object) -> None:
        function = {"name": name, "arguments": json.dumps(arguments)}
        await self.send({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
        await self.end("tool_calls")

    async def end(self, finish: str = "stop", *, prompt: int = 100, completion: int = 10) -> None:
        await self.send({}, finish)
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        await self._response.write(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode())
        await self._response.write(b"data: [DONE]\n\n")


class PlayedModels:
    """By name. What it is asked is kept in `asked`."""

    def __init__(self, **plays: Play) -> None:
        self.plays = {name.replace("__", "-"): play for name, play in plays.items()}
        self.asked: list[Body] = []
        self.refuses_tools = False
        self.listing: asyncio.Event | None = None
        """The list of models waits for it."""

    @property
    def routes(self) -> tuple[tuple[str, str, Handler], ...]:
        return (("*", "/{path:.*}", self._answer),)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/v1/models":
            if self.listing:
                await self.listing.wait()
            return web.json_response(
                {"object": "list", "data": [{"id": name, "object": "model"} for name in self.plays]}
            )
        if request.path != "/v1/chat/completions":
            return web.json_response({"error": {"message": "not found"}}, status=404)
        body = await request.json()
        self.asked.append(body)
        if self.refuses_tools and body.get("tools"):
            said = {"error": {"message": "this model does not support tools", "type": "invalid_request_error"}}
            return web.json_response(said, status=400)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await self.plays[body["model"]](Reply(response), body)
        await response.write_eof()
        return response


async def says_hello(reply: Reply, _: Body) -> None:
    await reply.text("Hel", "lo", "!")


async def calls_then_answers(reply: Reply, body: Body) -> None:
    """Calls the first tool that it is offered, and answers with what came of it."""
    results = [message for message in body["messages"] if message["role"] == "tool"]
    if body.get("tools") and not results:
        await reply.call(body["tools"][0]["function"]["name"], a=17, b=23)
    else:
        await reply.text(f"It is {results[-1]['content']}." if results else "I have no tools.")
