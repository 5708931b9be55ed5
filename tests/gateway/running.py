"""The application behind a real uvicorn on loopback, and servers that play the models behind it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import uvicorn
from aiohttp import web

from callgate.gateway import App, Options
from callgate.gateway.serving.connection import Connection
from callgate.settings import Settings
from callgate.vocabulary import Event, event_as_json
from tests.runtime.played import NOBODY, settings
from tests.wire.server import serving

MULTIPLY = {
    "type": "function",
    "function": {
        "name": "multiply",
        "description": "Multiply two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    },
}


class Answered(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        """Of NDJSON."""
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def events(self) -> list[Any]:
        """Of SSE: what each says, and the last word as it is."""
        said = [part.removeprefix(b"data: ") for part in self.body.split(b"\n\n") if part]
        return [each.decode() if each == b"[DONE]" else json.loads(each) for each in said]


class Gateway(NamedTuple):
    url: str
    app: App
    http: aiohttp.ClientSession

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.http.request(method, self.url + path, data=data, headers=sent) as response:
            return Answered(response.status, response.headers, await response.read())

    async def get(self, path: str, **headers: str) -> Answered:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: object, **headers: str) -> Answered:
        return await self.ask("POST", path, body, **headers)


def no_servers(url: str = NOBODY, **overrides: object) -> Settings:
    """Time enough for a played server on a busy machine to say what it has."""
    return settings(url, **{"discovery__timeout": 5.0, **overrides})


@asynccontextmanager
async def gateway(options: Options | None = None, known: Settings | None = None) -> AsyncIterator[Gateway]:
    app = App(known or no_servers(), options or Options())
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        http=partial(Connection, head_seconds=60.0),  # type: ignore[arg-type]
        log_config=None,
        log_level="critical",
        lifespan="on",
        ws="none",
        server_header=False,
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with aiohttp.ClientSession() as http:
            while not server.started:
                await asyncio.sleep(0)
                assert not running.done(), running
            yield Gateway(f"http://127.0.0.1:{listening.getsockname()[1]}", app, http)
    finally:
        server.should_exit = True
        await running


def recording(path: Path, *exchanges: Iterable[Event | Mapping[str, object]]) -> str:
    """A model that says just that, as a ref. An exchange may end in an error: `{"error": {…}}`."""
    lines: list[object] = [{"callgate_recording": 1, "model": "played"}]
    for exchange in exchanges:
        lines.append({"request": {}})
        lines += [
            {"at": 0, "event": event_as_json(said)} if isinstance(said, Event) else {"at": 0, **said}
            for said in exchange
        ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return f"scripted:{path}"


class PlayedServer:
    """An OpenAI-compatible server with one model, `slow`, which says a word and then waits until it is let go on."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self._news = asyncio.Event()
        self.go_on = asyncio.Event()
        self.was_left = asyncio.Event()
        """Whoever asked has gone."""
        self.breaks_off = False

    async def until_asked(self, times: int = 1) -> None:
        while len(self.asked) < times:
            self._news.clear()
            await self._news.wait()

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        handlers = (
            ("GET", "/v1/models", self._models),
            ("POST", "/v1/chat/completions", self._chat),
            ("POST", "/v1/embeddings", self._embeddings),
        )
        async with serving(*handlers) as url:
            try:
                yield url
            finally:
                self.go_on.set()

    async def _models(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [{"id": "slow", "object": "model"}]})

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        data = [{"index": number, "embedding": [float(number), 0.5]} for number in range(len(body["input"]))]
        return web.json_response({"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 2 * len(data)}})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.headers.append(request.headers)
        self._news.set()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(_chunk({"delta": {"role": "assistant", "content": "Once"}, "finish_reason": None}))
        try:
            while not self.go_on.is_set():
                await response.write(_chunk({"delta": {"content": " and"}, "finish_reason": None}))
                await asyncio.sleep(0.01)
        except (ConnectionError, asyncio.CancelledError):
            self.was_left.set()
            raise
        if not self.breaks_off:
            await response.write(_chunk({"delta": {}, "finish_reason": "stop"}) + b"data: [DONE]\n\n")
        return response


def _chunk(choice: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, **choice}]}).encode() + b"\n\n"
