"""Work that is done only for as long as somebody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from callgate.gateway.asgi import ClientGone, Exchange


@asynccontextmanager
async def while_listened_to(exchange: Exchange) -> AsyncIterator[None]:
    """Ends what is done in it when the client goes away, before the answer is whole. The body must have been read.

    Raises: ClientGone.
    """
    task = asyncio.current_task()
    assert task is not None

    async def watch() -> None:
        while (await exchange.receive())["type"] != "http.disconnect":
            pass
        if not exchange.is_over:
            exchange.is_gone = True
            task.cancel()

    watcher = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not exchange.is_gone or task.uncancel() > 0:  # somebody else wants it to end, too
            raise
        raise ClientGone from None
    finally:
        watcher.cancel()
