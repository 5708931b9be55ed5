"""A server that does nothing but answer, by one protocol or the other.

    http_protocol.py callgate|uvicorn

Says {"url", "version"} as soon as it answers.
"""

from __future__ import annotations

import json
import socket
import sys
from functools import partial
from importlib.metadata import version
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from callgate.gateway.asgi import Exchange, Receive, Scope, Send
from callgate.gateway.serving.connection import Connection

PROTOCOLS: dict[str, Any] = {"callgate": partial(Connection, head_seconds=60.0), "uvicorn": HttpToolsProtocol}
_ANSWER = b'{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"391"}}]}'


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    exchange = Exchange(scope, receive, send)
    await exchange.body(most=1 << 20, seconds=60.0)
    await exchange.answer(_ANSWER)


class Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        assert sockets
        said = {"url": f"http://127.0.0.1:{sockets[0].getsockname()[1]}", "version": f"uvicorn {version('uvicorn')}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    http = PROTOCOLS[sys.argv[1]]
    config = uvicorn.Config(answer, http=http, log_config=None, access_log=False, lifespan="off", ws="none")
    Server(config).run(sockets=[listening])
