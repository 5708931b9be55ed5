from __future__ import annotations

import asyncio
import json
import socket

import pytest
from aiohttp import web

from callgate.gateway import Options
from tests.gateway.running import gateway
from tests.wire.server import serving

PIECE = b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": "x" * 16_000}}]}).encode() + b"\n\n"
MUCH = 64 << 20
BUFFERED = 24 << 20
"""What the system's own buffers may hold on the way, and a little of ours."""


class Endless:
    """A server whose model never stops, as fast as somebody listens."""

    def __init__(self) -> None:
        self.sent = 0
        self.was_left = asyncio.Event()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            while True:
                await response.write(PIECE)
                self.sent += len(PIECE)
        except (ConnectionError, asyncio.CancelledError):
            self.was_left.set()
            raise

    async def until_stuck(self) -> int:
        before = -1
        while self.sent != before and self.sent < MUCH:
            before = self.sent
            await asyncio.sleep(0.5)  # much longer than a piece takes
        return self.sent


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat"])
async def test_a_client_that_reads_slowly_slows_the_model_down(path: str) -> None:
    endless = Endless()
    routes = serving(("POST", "/v1/chat/completions", endless.chat))
    async with routes as url, gateway(Options(model=f"{url}/v1#m")) as served:
        body = json.dumps({"messages": [{"role": "user", "content": "hello"}], "stream": True})
        client = socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2])))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        assert 0 < await endless.until_stuck() < BUFFERED
        # Nor does it keep the model once it has gone.
        client.close()
        async with asyncio.timeout(20):
            await endless.was_left.wait()
