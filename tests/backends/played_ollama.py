"""An Ollama that answers /api/chat with what it is told to, for the faults that no real one shows on demand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from aiohttp import web

from callgate.backends import OllamaBackend
from callgate.vocabulary import ChatRequest, Event, Message, Tool
from callgate.wire import HttpClient, Patience
from tests.wire.server import serving

WEATHER = Tool(
    "get_weather",
    "Get the weather in a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
QUESTION = Message(role="user", content="What is the weather in Paris?")

Talk = Callable[[web.Request, web.StreamResponse], Awaitable[None]]


def asking(**more: Any) -> ChatRequest:
    return ChatRequest(**{"model": "m", "messages": (QUESTION,), **more})


def line(*, content: str = "", done: bool = False, **more: object) -> bytes:
    """One chunk as Ollama writes it; what is `more` than content and call goes beside the message."""
    message: dict[str, object] = {"role": "assistant", "content": content}
    message |= {name: more.pop(name) for name in ("thinking", "tool_calls") if name in more}
    chunk = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done, **more}
    return json.dumps(chunk, ensure_ascii=False).encode() + b"\n"


def end(reason: str = "stop", **more: Any) -> bytes:
    return line(done=True, done_reason=reason, prompt_eval_count=9, eval_count=2, **more)


def call(name: str = "get_weather", *, id: str | None = None, **arguments: object) -> dict[str, object]:  # noqa: A002
    named = {} if id is None else {"id": id}
    return {**named, "function": {"index": 0, "name": name, "arguments": arguments}}


class PlayedOllama:
    """Sends `pieces`, or lets `talk` do it; keeps the bodies that it was sent."""

    def __init__(self, *pieces: bytes, status: int = 200, talk: Talk | None = None, version: str = "0.32.1") -> None:
        self.pieces = pieces
        self.status = status
        self.talk = talk
        self.version = version
        self.loaded: int | None = None
        self.longest = 8192
        self.parameters = ""
        self.names: Sequence[str] = ("m:latest",)
        self.bodies: list[bytes] = []
        self.asked: Counter[str] = Counter()

    @property
    def last(self) -> Any:
        return json.loads(self.bodies[-1])

    @property
    def num_ctx(self) -> list[int | None]:
        return [json.loads(body).get("options", {}).get("num_ctx") for body in self.bodies]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] += 1
        match request.path:
            case "/api/version":
                return web.json_response({"version": self.version})
            case "/api/tags":
                return web.json_response({"models": [{"name": name, "model": name} for name in self.names]})
            case "/api/ps":
                loaded = [{"name": "m:latest", "model": "m:latest", "context_length": self.loaded}]
                return web.json_response({"models": loaded if self.loaded else []})
            case "/api/show":
                info = {"general.architecture": "llama", "llama.context_length": self.longest}
                return web.json_response({"model_info": info, "parameters": self.parameters})
        self.bodies.append(await request.read())
        response = web.StreamResponse(status=self.status, headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        if self.talk:
            await self.talk(request, response)
        for piece in self.pieces:
            await response.write(piece)
        await response.write_eof()
        return response

    @asynccontextmanager
    async def backend(self, patience: Patience | None = None) -> AsyncIterator[OllamaBackend]:
        async with serving(("*", "/{path:.*}", self.answer)) as url, HttpClient() as http:
            backend = OllamaBackend(url, http, timeout=5, patience=patience)
            yield backend
            await backend.close()


async def events_of(backend: OllamaBackend, request: ChatRequest) -> list[Event]:
    async with aclosing(backend.stream(request)) as events:
        return [event async for event in events]


async def heard(ollama: PlayedOllama, request: ChatRequest | None = None) -> list[Event]:
    async with ollama.backend() as backend:
        return await events_of(backend, request or asking())
