"""Small servers for an application that echoes: by our own protocol, and by uvicorn's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from callgate.gateway.asgi import Receive, Scope, Send
from callgate.gateway.serving.connection import Connection

UVICORNS = HttpToolsProtocol


class Echo:
    """Tells what it was asked; some paths are odd."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gone: list[str] = []
        """Paths whose clients went away."""
        self.may_go_on = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        self.begun.append(path)
        if path == "/boom":
            raise ValueError(path)
        body = b"" if path == "/early" else await _body(receive)
        if path == "/wait":
            await self._wait(receive, path)
        told = {name: scope[name] for name in ("method", "path", "http_version", "scheme", "root_path")}
        told |= {name: scope[name].decode("latin-1") for name in ("raw_path", "query_string")}
        told["headers"] = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]]
        told["body"] = body.decode("latin-1")
        content = json.dumps(told).encode()
        headers = [(b"content-type", b"application/json"), *_ODD_HEADERS.get(path, ())]
        if path == "/much":
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            for _ in range(2_000):  # more than any kernel takes without a reader
                await send({"type": "http.response.body", "body": b"a" * 65_536, "more_body": True})
            await send({"type": "http.response.body"})
            return
        if path in ("/stream", "/half"):
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": content[:20], "more_body": True})
            if path == "/half":
                raise ValueError(path)
            await send({"type": "http.response.body", "body": b"", "more_body": True})
            await send({"type": "http.response.body", "body": content[20:]})
            return
        status = {"/empty": 204, "/teapot": 418, "/odd": 599}.get(path, 200)
        content = b"" if status == 204 else content
        length = len(content) + {"/longer": 1, "/shorter": -1}.get(path, 0)
        headers.append((b"content-length", str(length).encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})

    async def _wait(self, receive: Receive, path: str) -> None:
        going_on = asyncio.ensure_future(self.may_go_on.wait())
        hearing = asyncio.ensure_future(receive())
        await asyncio.wait((going_on, hearing), return_when=asyncio.FIRST_COMPLETED)
        if hearing.done() and hearing.result()["type"] == "http.disconnect":
            self.gone.append(path)
        for each in (going_on, hearing):
            each.cancel()


_ODD_HEADERS = {"/split": [(b"x-odd", b"a\r\nx-more: b")], "/close": [(b"connection", b"close")]}


async def _body(receive: Receive) -> bytes:
    pieces = []
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)


@asynccontextmanager
async def listening(
    app: Echo,
    kind: type = Connection,
    state: ServerState | None = None,
    *,
    head_seconds: float = 20.0,
    idle_seconds: int = 5,
) -> AsyncIterator[int]:
    """Its port."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        ws="none",
        server_header=False,
        timeout_keep_alive=idle_seconds,
    )
    config.load()
    more: dict[str, Any] = {"head_seconds": head_seconds} if kind is Connection else {}
    state = state or ServerState()

    def made() -> asyncio.Protocol:
        protocol: asyncio.Protocol = kind(config=config, server_state=state, app_state={}, **more)
        return protocol

    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()


async def said(port: int, *pieces: bytes, between: Callable[[], Any] | None = None) -> bytes:
    """All that the server says, until it hangs up or has nothing more to say."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for number, piece in enumerate(pieces):
            if number and between is not None:
                await between()
            writer.write(piece)
            await writer.drain()
        heard = b""
        while piece := await reader.read(65_536):
            heard += piece
        return heard
    finally:
        writer.close()


async def until(is_so: Callable[[], object]) -> None:
    while not is_so():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
