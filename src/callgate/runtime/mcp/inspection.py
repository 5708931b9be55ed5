"""Between a server and the official package's session: the package reads a list of tools whole or not at all, so that
tools which are no good are taken out before; and whoever waits for the server's end hears of it here.
"""

from __future__ import annotations

import contextvars
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp.shared.message import SessionMessage

Look = Callable[[dict[str, Any]], dict[str, Any]]


@asynccontextmanager
async def inspected(
    transport: AbstractAsyncContextManager[TransportStreams], look: Look, when_over: Callable[[], None]
) -> AsyncIterator[TransportStreams]:
    """The transport, with every result passed through `look`, and its end told to `when_over`."""
    async with transport as (reading, writing):
        yield _Inspected(reading, look, when_over), writing


class _Inspected:
    def __init__(
        self, stream: ReadStream[SessionMessage | Exception], look: Look, when_over: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._look = look
        self._when_over = when_over

    @property
    def last_context(self) -> contextvars.Context | None:
        """What the package asks of its own streams."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        from mcp_types import JSONRPCResponse

        try:
            item = await self._stream.receive()
        except BaseException:
            self._when_over()
            raise
        if not isinstance(item, Exception) and isinstance(item.message, JSONRPCResponse):
            item.message.result = self._look(item.message.result)
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _Inspected:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._when_over()
        return await self._stream.__aexit__(kind, error, trace)
