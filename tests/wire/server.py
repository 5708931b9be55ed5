"""A real HTTP server on loopback, made of a few handlers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(*handlers: tuple[str, str, Handler]) -> AsyncIterator[str]:
    """Serves `(method, path, handler)`; gives the server's base URL."""
    app = web.Application()
    for method, path, handler in handlers:
        app.router.add_route(method, path, handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
