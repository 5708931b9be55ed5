"""The connections that clients make: one whose request doesn't begin in time, or has no end, is cut off."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, cast

from callgate.gateway.serving.one_write import OneWrite

if TYPE_CHECKING:
    from uvicorn.config import HTTPProtocolType

MOST_HEAD_BYTES = 256 << 10
_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def protocol(seconds: float) -> type[asyncio.Protocol] | HTTPProtocolType | Literal["auto"]:
    """For uvicorn, which waits for heads for ever. `seconds` are for each, from its first byte, and from the start of
    the connection; 0: as many as it takes.
    """
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
    except ImportError:
        return "auto"

    class Bounded(HttpToolsProtocol):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self._is_in_head = False
            self._head_bytes = 0
            self._late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(cast("asyncio.Transport", OneWrite(transport, self.loop)))
            self._begin()

        def connection_lost(self, exc: Exception | None) -> None:
            self._have_begun()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_in_head:
                self._head_bytes += len(data)
                if self._head_bytes > MOST_HEAD_BYTES:
                    self._cut_off(_LONG)
            # What comes after an answer is the next head, or what is left of a body that nobody wants.
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is not None and not cycle.response_complete:
                self._have_begun()
            elif self._late is None and not self.transport.is_closing():
                self._begin()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._is_in_head, self._head_bytes = True, 0

        def on_headers_complete(self) -> None:
            self._is_in_head = False
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self._is_in_head and self._late is None:
                self._begin()

        def _begin(self) -> None:
            if seconds:
                self._late = self.loop.call_later(seconds, self._cut_off, _LATE)

        def _have_begun(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _cut_off(self, answer: bytes) -> None:
            if not self.transport.is_closing():
                self.transport.write(answer)
                self.transport.close()

    return Bounded
