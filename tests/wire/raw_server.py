"""A server that speaks raw bytes, and a client that hears it out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from callgate.wire import HttpClient, Patience, post_stream

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SHORT = Patience(5.0, 0.1, 0.1)


async def read(client: HttpClient, url: str, patience: Patience = SHORT) -> list[bytes]:
    async with post_stream(client, f"{url}/x", b"{}", patience=patience) as incoming:
        pieces = []
        while piece := await incoming.read():
            pieces.append(piece)
        return pieces


@asynccontextmanager
async def talking(
    *talks: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """Speaks raw bytes: the first talk to the first that connects, the last to all after the others."""
    connections = iter(range(10**6))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talks[min(next(connections), len(talks) - 1)](reader, writer)
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def heard(reader: asyncio.StreamReader) -> bytes:
    await reader.readuntil(b"\r\n\r\n")
    return await reader.readexactly(2)
