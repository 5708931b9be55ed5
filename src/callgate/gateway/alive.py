"""Signs of life for clients that wait: while a long prompt is read, and in every silence after.

Whoever waits for an answer in pieces, or sends it on, gives up on a connection where nothing happens. So a stream
begins before its first word if that doesn't come soon. Nothing of an answer is in such a sign: who gives it may still
change. But from then on an error has no status of its own, and is told in the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

from callgate.gateway.asgi import Exchange, Header
from callgate.gateway.dialect import Writer
from callgate.gateway.sending import Outgoing


class SignsOfLife:
    """For one answer in pieces. Every so many `seconds` in which nothing was sent; 0: never."""

    def __init__(
        self,
        exchange: Exchange,
        seconds: float,
        stream_type: str,
        *,
        new_writer: Callable[[], Writer],
        headers: Callable[[], Iterable[Header]],
    ) -> None:
        self._exchange = exchange
        self._seconds = seconds
        self._stream_type = stream_type
        self._new_writer = new_writer
        self._headers = headers
        self._outgoing: Outgoing | None = None
        self._seen: object = None
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(seconds, self._look) if seconds else None
        self._task: asyncio.Task[None] | None = None
        self.writer: Writer | None = None
        """Of the answer, once it has begun."""

    async def begin(self) -> Writer:
        """The answer itself, whether a sign was given before or not."""
        if self._task is not None:
            await self._task
        if self.writer is None:
            await self._open(self._new_writer())
        assert self.writer is not None
        return self.writer

    def watch(self, outgoing: Outgoing) -> None:
        """From now on it is this that may fall silent."""
        self._outgoing, self._seen = outgoing, outgoing.mark

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    async def _open(self, writer: Writer) -> None:
        self.writer = writer
        await self._exchange.start(200, self._stream_type, self._headers())

    def _look(self) -> None:
        self._timer = self._loop.call_later(self._seconds, self._look)
        if self._outgoing is None:
            self._task = self._loop.create_task(self._give())
        elif (mark := self._outgoing.mark) is not self._seen:
            self._seen = mark
        elif self._task is None or self._task.done():  # one that waits tells of a client that doesn't read
            self._task = self._loop.create_task(self._give())

    async def _give(self) -> None:
        # The answer may end while this waits for its turn, and then it isn't needed any more.
        with suppress(RuntimeError, OSError):
            if self._exchange.is_over:
                return
            writer = self.writer or self._new_writer()
            if not (sign := writer.alive()):
                return
            if self.writer is None:
                await self._open(writer)
            await self._exchange.piece(sign)
