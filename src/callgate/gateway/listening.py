"""Work that is done only for as long as somebody listens."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from types import TracebackType

from callgate.gateway.asgi import ClientGone, Exchange

SOON_SECONDS = 0.02
"""An answer that takes no longer is given without looking whether somebody is there: that would take as long."""


def while_listened_to(exchange: Exchange, *, after: asyncio.Event | None = None) -> AbstractAsyncContextManager[None]:
    """Ends what is done in it when the client goes away, before the answer is whole. The body must have been read, or
    be read until `after`.

    Raises: ClientGone.
    """
    return _Listening(exchange, after)


class _Listening(AbstractAsyncContextManager[None]):
    def __init__(self, exchange: Exchange, after: asyncio.Event | None) -> None:
        self._exchange = exchange
        self._after = after
        self._task: asyncio.Task[object] | None = None
        self._soon: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._task = asyncio.current_task()
        self._soon = asyncio.get_running_loop().call_later(SOON_SECONDS, self._begin)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        assert self._task is not None
        if self._soon is not None:
            self._soon.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        if isinstance(error, asyncio.CancelledError) and self._exchange.is_gone and self._task.uncancel() == 0:
            raise ClientGone from None  # and nobody else wants it to end

    def _begin(self) -> None:
        self._watcher = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        exchange = self._exchange
        if self._after is not None:
            await self._after.wait()
        while (await exchange.receive())["type"] != "http.disconnect":
            pass
        if not exchange.is_over and self._task is not None:
            exchange.is_gone = True
            self._task.cancel()
