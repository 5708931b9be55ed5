"""Bodies that are longer than they may be: whoever sends them is told, even if they read nothing before all is sent."""

from __future__ import annotations

import asyncio

import pytest

from callgate.gateway import Options, ServeLimits
from tests.gateway.running import gateway

MOST = 100_000
SENT = 40 << 20
"""More than any kernel takes without a reader."""


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_client_that_sends_all_before_it_reads_sees_the_answer(chunked: bool) -> None:
    async with gateway(Options(limits=ServeLimits(body_bytes=MOST))) as served:
        host, _, port = served.url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        how = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {SENT}"
        # Else the server itself goes on reading, behind its answer.
        how += "\r\nConnection: close"
        writer.write(f"POST /v1/messages HTTP/1.1\r\nHost: {host}:{port}\r\n{how}\r\n\r\n".encode())
        piece = b" " * (1 << 20)
        for _ in range(SENT // len(piece)):
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            await writer.drain()
        if chunked:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        assert (await reader.readline()).startswith(b"HTTP/1.1 413")
        writer.close()


async def test_a_client_that_asks_first_needs_to_send_nothing() -> None:
    async with gateway(Options(limits=ServeLimits(body_bytes=MOST))) as served:
        host, _, port = served.url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /v1/messages HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {SENT}\r\nExpect: 100-continue"
        writer.write(f"{head}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 413")
        writer.close()
