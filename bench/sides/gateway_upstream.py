"""Plays the OpenAI-compatible server behind a gateway, so fast that it is never what is waited for.

The model's name says how it answers: `burst` all at once, `paced` chunk by chunk. `max_tokens` says how many chunks.
Standard library only. Says {"url"} when it is ready, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import sys

PACE_SECONDS = 0.002
DIFFERENT = 1000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
ABOUT = {
    "id": "chatcmpl-0123456789abcdef",
    "created": 1767225600,
    "model": "played",
    "system_fingerprint": "b1234-abcdef",
}
USAGE = {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46}
MODELS = ("qwen3-burst", "qwen3-paced")
"""By which family they name, they can call tools."""


def encoded(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def whole(content: object) -> bytes:
    body = encoded(content)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def framed(data: bytes) -> bytes:
    """As servers write them, each in an HTTP chunk of its own."""
    return b"%x\r\ndata: %s\n\n\r\n" % (len(data) + 8, data)


def chunk(choices: list[object], **more: object) -> bytes:
    return framed(encoded({**ABOUT, "object": "chat.completion.chunk", "choices": choices, **more}))


CHUNKS = [
    chunk([{"index": 0, "delta": {"content": f" word{number}"}, "finish_reason": None}]) for number in range(DIFFERENT)
]
LAST = (
    chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    + chunk([], usage=USAGE)
    + framed(b"[DONE]")
    + b"0\r\n\r\n"
)
MESSAGE = {"role": "assistant", "content": "Seventeen times twenty-three is 391."}
ANSWER = whole(
    {
        **ABOUT,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
        "usage": USAGE,
    }
)
LIST = whole({"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})


class Played(asyncio.Protocol):
    def __init__(self) -> None:
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._pacing: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, _: Exception | None) -> None:
        if self._pacing:
            self._pacing.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            _, _, after = head.partition(b"content-length:")
            length = int(after.split(b"\r\n", 1)[0]) if after else 0
            if len(self._received) < end + 4 + length:
                return
            body = self._received[end + 4 : end + 4 + length]
            self._received = self._received[end + 4 + length :]
            self._answer(head.split(b" ", 2)[1], body)

    def _answer(self, path: bytes, body: bytes) -> None:
        assert self._transport is not None
        if path.endswith(b"/models"):
            self._transport.write(LIST)
        elif not path.endswith(b"/chat/completions"):
            self._transport.write(NOT_FOUND)
        else:
            asked = json.loads(body)
            if not asked.get("stream"):
                self._transport.write(ANSWER)
            elif asked["model"].endswith("paced"):
                self._pacing = asyncio.create_task(self._paced(self._transport, asked["max_tokens"]))
            else:
                self._transport.write(burst(asked["max_tokens"]))

    async def _paced(self, transport: asyncio.Transport, count: int) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        transport.write(HEAD)
        for number in range(count):
            transport.write(CHUNKS[number % DIFFERENT])
            await asyncio.sleep(max(0.0, started + (number + 1) * PACE_SECONDS - loop.time()))
        transport.write(LAST)


_bursts: dict[int, bytes] = {}


def burst(count: int) -> bytes:
    if count not in _bursts:
        _bursts[count] = HEAD + b"".join(CHUNKS[number % DIFFERENT] for number in range(count)) + LAST
    return _bursts[count]


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Played, "127.0.0.1", 0)
    print(json.dumps({"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
