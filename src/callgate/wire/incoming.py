"""An answer that streams, piece by piece as it arrives."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from time import monotonic
from typing import TYPE_CHECKING

from callgate.vocabulary import BackendError, StreamCut, Unreachable
from callgate.wire.connections import Closed, Connection
from callgate.wire.framing import Head, NotHttp
from callgate.wire.http import Patience
from callgate.wire.tapping import Exchange

if TYPE_CHECKING:
    import aiohttp


class Incoming(ABC):
    """The body of one answer, while it arrives."""

    place: str
    """Who sends it, as it may be shown."""
    content_type: str
    exchange: Exchange | None = None
    """Of somebody who listens."""
    _patience: Patience
    _started = False

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether all of it has been read, as far as one can tell without waiting."""

    @abstractmethod
    async def read(self) -> bytes:
        """Whatever has arrived since, and something at least; empty at the end.

        Raises: Unreachable, if nothing comes at all; StreamCut, if no more comes although more was announced.
        """

    def _ended_by(self, problem: Exception) -> BackendError:
        if not isinstance(problem, TimeoutError):
            return StreamCut(f"{self.place} broke off in the middle of its answer", hint="did it crash? see its log")
        if self._started:
            return StreamCut(
                f"{self.place} fell silent for {self._patience.between:g} s in the middle of its answer",
                hint="the setting `timeouts.between` says how long it may",
            )
        return Unreachable(
            f"{self.place} said nothing within {self._patience.first_byte:g} s",
            hint="is it busy loading a model? the setting `timeouts.first_byte` says how long it may take",
        )


class Direct(Incoming):
    """Over a connection of our own."""

    def __init__(self, connection: Connection, head: Head, place: str, patience: Patience) -> None:
        self.place, self.content_type, self._patience = place, head.content_type, patience
        self._connection = connection
        self._waits_since: float | None = None
        self._watchdog: asyncio.TimerHandle | None = None

    @property
    def is_over(self) -> bool:
        return self._connection.is_over and not self._connection.held

    async def read(self) -> bytes:
        connection = self._connection
        try:
            while not (connection.held or connection.is_over or connection.problem):
                self._waits_since = monotonic()
                if self._watchdog is None and (limit := self._limit()):
                    self._watchdog = connection.loop.call_later(limit, self._watch)
                await connection.news()
                self._waits_since = None
            piece = connection.take()
        except (Closed, NotHttp, TimeoutError) as problem:
            raise self._ended_by(problem) from None
        self._started = True
        if self.exchange is not None:
            self.exchange.hear(piece)
        return piece

    def close(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()

    def _limit(self) -> float | None:
        return self._patience.between if self._started else self._patience.first_byte

    def _watch(self) -> None:
        """One timer serves the whole answer: to set one for each piece takes longer than to read it."""
        self._watchdog = None
        if not (limit := self._limit()):
            return
        # Whoever doesn't read isn't kept waiting.
        waited = 0.0 if self._waits_since is None else monotonic() - self._waits_since
        if waited >= limit:
            self._connection.fail(TimeoutError())
        else:
            self._watchdog = self._connection.loop.call_later(limit - waited, self._watch)


class Proxied(Incoming):
    """Through a proxy, by a client that knows them."""

    def __init__(self, response: aiohttp.ClientResponse, place: str, patience: Patience) -> None:
        import aiohttp

        self.place, self.content_type, self._patience = place, response.content_type, patience

        self._response = response
        self._problems = (aiohttp.ClientError, TimeoutError, OSError, RuntimeError)

    @property
    def is_over(self) -> bool:
        return self._response.content.at_eof()

    async def read(self) -> bytes:
        limit = self._patience.between if self._started else self._patience.first_byte
        try:
            async with asyncio.timeout(limit):
                piece = await self._response.content.readany()
        except self._problems as problem:  # a RuntimeError is how aiohttp says that the connection was closed here
            raise self._ended_by(problem) from None
        self._started = True
        if self.exchange is not None:
            self.exchange.hear(piece)
        return piece
