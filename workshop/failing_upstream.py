"""Plays an OpenAI-compatible server whose streams break off in the middle, each as its question says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

MODEL = "qwen3-played"
WAYS = ("resets", "hangs up", "says error", "talks nonsense", "ends too soon")
"""In which a stream fails."""
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_LAST = b"0\r\n\r\n"


def question(number: int, chunks: int, way: str = "") -> str:
    """What a client says, so that the stream of its answer has so many chunks, or fails in this way."""
    return json.dumps({"number": number, "chunks": chunks, "way": way})


def word(number: int, chunk: int) -> str:
    """What each chunk says: nobody's answer is anybody else's."""
    return f" {number}.{chunk}"


@asynccontextmanager
async def playing(pace: float) -> AsyncIterator[str]:
    """Its URL. `pace`: the seconds between two chunks of a stream."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]
                body = await reader.readexactly(int(length or 0))
                if not await _answer(writer, head.split(b" ", 2)[1], body, pace):
                    break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=2048)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def _answer(writer: asyncio.StreamWriter, path: bytes, body: bytes, pace: float) -> bool:
    """Whether the connection goes on."""
    if not path.endswith(b"/chat/completions"):
        found = path.endswith(b"/models")
        content = json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]} if found else {}).encode()
        status = b"200 OK" if found else b"404 Not Found"
        head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % (status, len(content)) + content)
        return True
    asked = json.loads(json.loads(body)["messages"][-1]["content"])
    number, chunks, way = asked["number"], asked["chunks"], asked["way"]
    writer.write(_HEAD)
    for chunk in range(chunks // 2 if way else chunks):
        writer.write(_event({"choices": [{"index": 0, "delta": {"content": word(number, chunk)}}]}))
        await writer.drain()
        await asyncio.sleep(pace)
    return _fail(writer, way) if way else _end(writer)


def _end(writer: asyncio.StreamWriter) -> bool:
    writer.write(
        _event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + _framed(b"data: [DONE]\n\n") + _LAST
    )
    return True


def _fail(writer: asyncio.StreamWriter, way: str) -> bool:
    match way:
        case "resets":
            writer.transport.abort()
        case "says error":
            writer.write(_event({"error": {"message": "out of memory"}}) + _LAST)
        case "talks nonsense":
            writer.write(_framed(b"data: {]\n\n"))
        case "ends too soon":
            writer.write(_LAST)
            return True
    return False


def _event(content: object) -> bytes:
    return _framed(b"data: " + json.dumps(content).encode() + b"\n\n")


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
