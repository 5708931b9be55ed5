"""The least that a gateway of our stack can do: uvicorn, aiohttp and orjson; each chunk is parsed and encoded anew.

    gateway_passthrough.py UPSTREAM

It checks nothing and mends nothing. Says {"url", "version"} as soon as it answers.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from importlib.metadata import version
from typing import Any

import aiohttp
import orjson
import uvicorn

Message = MutableMapping[str, Any]
VERSION = f"uvicorn {version('uvicorn')}, aiohttp {version('aiohttp')}, orjson {version('orjson')}"
_JSON = [(b"content-type", b"application/json")]
_EVENTS = [(b"content-type", b"text/event-stream")]


class PassThrough:
    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        if scope["type"] != "http":
            return
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                break
        asked = orjson.loads(body)
        url = self._upstream + scope["path"]
        headers = {"Content-Type": "application/json"}
        async with self._session.post(url, data=orjson.dumps(asked), headers=headers) as response:
            if not asked.get("stream"):
                answer = orjson.loads(await response.read())
                await send({"type": "http.response.start", "status": response.status, "headers": _JSON})
                await send({"type": "http.response.body", "body": orjson.dumps(answer)})
                return
            await send({"type": "http.response.start", "status": response.status, "headers": _EVENTS})
            rest = b""
            async for piece in response.content.iter_any():
                *events, rest = (rest + piece).split(b"\n\n")
                if events:
                    passed = b"".join(map(_again, events))
                    await send({"type": "http.response.body", "body": passed, "more_body": True})
            await send({"type": "http.response.body", "body": rest})


def _again(event: bytes) -> bytes:
    data = event.removeprefix(b"data: ")
    if data == b"[DONE]":
        return b"data: [DONE]\n\n"
    again: bytes = orjson.dumps(orjson.loads(data))
    return b"data: " + again + b"\n\n"


class Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        assert sockets
        said = {"url": f"http://127.0.0.1:{sockets[0].getsockname()[1]}", "version": VERSION}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(PassThrough(sys.argv[1]), log_config=None, access_log=False, lifespan="off", ws="none")
    Server(config).run(sockets=[listening])
