from __future__ import annotations

import asyncio
import signal
import socket

import pytest
import uvicorn

from callgate.gateway import App
from callgate.gateway.serving.running import _Server
from tests.gateway.running import no_servers


async def test_it_ends_when_it_is_told_to_and_not_when_it_looks_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgate.gateway.serving.running.TICK_SECONDS", 3600)
    ready = asyncio.Event()
    config = uvicorn.Config(App(no_servers()), log_config=None, log_level="critical", lifespan="on", ws="none")
    server = _Server(config, ready.set)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        running = asyncio.create_task(server.serve(sockets=[listening]))
        async with asyncio.timeout(20):
            await ready.wait()
            for _ in range(5):  # until it waits
                await asyncio.sleep(0)
            server.handle_exit(signal.SIGTERM, None)
            server._captured_signals.clear()  # which it would raise again
            await running
