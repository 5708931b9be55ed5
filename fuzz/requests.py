"""What a client sends to the server: however it is cut into pieces, the answers are the same, and nothing stays."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState

from callgate.gateway.asgi import Receive, Scope, Send
from callgate.gateway.serving.connection import Connection

EXPECTED: tuple[type[BaseException], ...] = ()
_TURNS = 50
"""Of the event loop, within which all has to be said."""


def seeds() -> Iterable[bytes]:
    yield b"GET /a?b=c HTTP/1.1\r\nHost: here\r\n\r\n"
    yield b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /stream HTTP/1.1\r\nConnection: close\r\n\r\n"
    yield b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"
    yield b"PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi"
    yield b"HEAD http://here/a%20b#c HTTP/1.0\r\n\r\n"
    yield b"GET /early HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi"


def one_input(data: bytes) -> str | None:
    whole = asyncio.run(_said([data]))
    for size in (1, 7, len(data) // 2 + 1):
        cuts = [*range(0, len(data), size), len(data)]
        pieces = [data[at:to] for at, to in pairwise(cuts)]
        assert asyncio.run(_said(pieces)) == whole, f"in pieces of {size} it is answered otherwise"
    return f"{whole[9:12].decode('latin-1') or 'nothing'}, {whole.count(b'HTTP/1.1 ')} answers"


async def _said(pieces: Iterable[bytes]) -> bytes:
    config = uvicorn.Config(_echo, log_config=None, ws="none", lifespan="off")
    config.load()
    state, transport = ServerState(), _Transport()
    connection = Connection(config, state, {}, head_seconds=60.0)
    connection.connection_made(transport)
    for piece in pieces:
        connection.data_received(piece)
    await _turns()
    connection.connection_lost(None)
    await _turns()
    assert not state.tasks, "somebody still waits"
    assert not state.connections
    return transport.written


async def _turns() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    size, more = 0, scope["path"] != "/early"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
        more = message["more_body"]
    body = b"%d" % size
    headers = [] if scope["path"] == "/stream" else [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self._is_closing = False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self._is_closing = True

    def is_closing(self) -> bool:
        return self._is_closing

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """What was read goes on being read: this client can't be stopped."""

    def resume_reading(self) -> None: ...

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return cast("Any", ("127.0.0.1", 1)) if name.endswith("name") else default
