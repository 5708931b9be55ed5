from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.gateway.running import Gateway, gateway, no_servers


class SilentOllama:
    """Takes what it is sent, and says nothing."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.news = asyncio.Event()
        self.was_left = asyncio.Event()

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._hear, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def until(self, words: bytes) -> None:
        async with asyncio.timeout(20):
            while words not in self.heard:
                self.news.clear()
                await self.news.wait()

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65_536):
                self.heard += piece
                self.news.set()
        except ConnectionError:
            pass
        self.was_left.set()
        writer.close()


async def leave(served: Gateway, ollama: SilentOllama, head: str, body: bytes) -> None:
    """Asks, and goes as soon as the Ollama has heard it."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"{head}\r\nHost: {host}\r\n\r\n".encode() + body)
    await ollama.until(body)
    writer.close()
    async with asyncio.timeout(20):
        await ollama.was_left.wait()


async def counted(served: Gateway) -> str:
    """When it is over."""
    async with asyncio.timeout(20):
        while "callgate_requests_in_flight 1\n" not in (written := (await served.get("/metrics")).body.decode()):
            pass
    return written


async def test_an_ollama_that_says_nothing_is_left_when_the_client_goes() -> None:
    ollama = SilentOllama()
    async with ollama.served() as url, gateway(None, no_servers(url)) as served:
        await leave(served, ollama, "POST /api/pull HTTP/1.1\r\nContent-Length: 13", b'{"model":"x"}')
        assert 'status="499"} 1' in await counted(served)


async def test_an_upload_that_the_client_breaks_off_is_not_the_servers_fault() -> None:
    ollama = SilentOllama()
    async with ollama.served() as url, gateway(None, no_servers(url)) as served:
        digest = "0" * 64
        head = f"POST /api/blobs/sha256:{digest} HTTP/1.1\r\nContent-Length: 1000"
        await leave(served, ollama, head, b"the first part")
        assert 'status="499"} 1' in await counted(served)
