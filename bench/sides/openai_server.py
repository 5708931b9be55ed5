"""Replays one stream of `/v1/chat/completions`; the model's name says how: `burst:20000` or `paced:2000`.

Standard library only. Prints its port, and ends when its standard input does.
"""

import asyncio
import json
import sys

PACE_SECONDS = 0.0005
BATCH = 64  # chunks in one write of a burst
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def framed(data: str) -> bytes:
    """As servers write them, each in an HTTP chunk of its own."""
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


def chunk(choices: list[object], **more: object) -> bytes:
    line = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": "replayed",
        "system_fingerprint": "b1234-abcdef",
        "choices": choices,
        **more,
    }
    return framed(json.dumps(line, separators=(",", ":")))


def said(text: str) -> bytes:
    return chunk([{"index": 0, "delta": {"content": text}, "finish_reason": None}])


USAGE = {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46}
LAST = (
    chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    + chunk([], usage=USAGE)
    + framed("[DONE]")
    + b"0\r\n\r\n"
)
CHUNKS = [said(f" word{number}") for number in range(1000)]


async def answer(writer: asyncio.StreamWriter, model: str) -> None:
    how, _, count = model.partition(":")
    writer.write(HEAD)
    step = BATCH if how == "burst" else 1
    for start in range(0, int(count), step):
        writer.write(b"".join(CHUNKS[number % 1000] for number in range(start, min(start + step, int(count)))))
        await writer.drain()
        if how == "paced":
            await asyncio.sleep(PACE_SECONDS)
    writer.write(LAST)
    await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := (await reader.readuntil(b"\r\n\r\n")).lower():
            length = int(head.partition(b"content-length:")[2].split(None, 1)[0])
            await answer(writer, json.loads(await reader.readexactly(length))["model"])
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
