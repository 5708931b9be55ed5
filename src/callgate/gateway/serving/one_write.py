"""An answer's head, sent along with what follows it at once: that is one call of the kernel less for each answer."""

from __future__ import annotations

import asyncio
from typing import Any

_HEAD_STARTS = b"HTTP/1.1 "
_HEAD_ENDS = b"\r\n\r\n"


class OneWrite:
    """A transport that holds a head back until more is written, or there is nothing else to do."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(_HEAD_STARTS) and data.endswith(_HEAD_ENDS):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
