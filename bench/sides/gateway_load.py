"""Asks a gateway, and does as little as possible besides: what it takes must not be what is measured.

    gateway_load.py URL HOW CONNECTIONS REQUESTS CHUNKS

HOW is `whole` or `burst` or `paced`. Every answer is looked at: it has to have all its chunks, and its end.
Standard library only. Prints how long it took, in seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
from time import perf_counter
from urllib.parse import urlsplit

TOOLS = [
    {
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
]
MESSAGES = [{"role": "user", "content": "What is 17 times 23?"}]
END_OF_STREAM = b"0\r\n\r\n"
LAST_EVENT = b"data: [DONE]\n\n"


class Client(asyncio.Protocol):
    """Asks `times` times, one after the other."""

    def __init__(self, sent: bytes, times: int, chunks: int) -> None:
        self._sent, self._left, self._chunks = sent, times, chunks
        self._transport: asyncio.Transport | None = None
        self._seen = 0
        self._ended = False
        self._tail = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        assert self._transport is not None
        self._seen, self._ended, self._tail = 0, False, b""
        self._transport.write(self._sent)

    def data_received(self, data: bytes) -> None:
        if self._chunks:
            data = self._tail + data
            end = data.rfind(b"\n\n") + 2
            if end > 1:  # what comes after may be torn apart
                self._seen += data.count(b'"content":" word', 0, end)
                self._ended = data.endswith(LAST_EVENT, 0, end)
            self._tail = data[end:] if end > 1 else data
            is_whole = data.endswith(END_OF_STREAM)
            if is_whole and (self._seen != self._chunks or not self._ended):
                self._fail(f"{self._seen} chunks of {self._chunks}, and at the end {data[-200:]!r}")
                return
        else:
            self._tail += data
            head, _, body = self._tail.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0] or -1)
            is_whole = len(body) == length or (length < 0 and body.endswith(END_OF_STREAM))
            if is_whole and b" 200 " not in head.split(b"\r\n", 1)[0]:
                self._fail(repr(self._tail[:500]))
                return
        if is_whole:
            self._left -= 1
            if self._left:
                self._ask()
            elif not self.done.done():
                self.done.set_result(None)

    def connection_lost(self, problem: Exception | None) -> None:
        self._fail(f"the connection is lost ({problem}), after {self._tail[-200:]!r}")

    def _fail(self, why: str) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(why))


def request(url: str, how: str, chunks: int) -> bytes:
    place = urlsplit(url)
    model = "qwen3-paced" if how == "paced" else "qwen3-burst"
    asked: dict[str, object] = {"model": model, "messages": MESSAGES, "tools": TOOLS, "max_tokens": chunks or 100}
    asked["stream"] = how != "whole"
    body = json.dumps(asked).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer sk-none\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def load(url: str, how: str, connections: int, times: int, chunks: int) -> float:
    loop, place = asyncio.get_running_loop(), urlsplit(url)
    host, port = place.hostname or "", place.port or 80
    sent = request(url, how, chunks)
    started = perf_counter()
    opened = await asyncio.gather(
        *(loop.create_connection(lambda: Client(sent, times, chunks), host, port) for _ in range(connections))
    )
    try:
        await asyncio.gather(*(client.done for _, client in opened))
        return perf_counter() - started
    finally:
        for transport, _ in opened:
            transport.abort()


if __name__ == "__main__":
    print(asyncio.run(load(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))))
