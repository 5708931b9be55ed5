"""An answer that streams, piece by piece as it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from callgate.vocabulary import BackendError, StreamCut, Unreachable
from callgate.wire.http import HttpClient, Patience
from callgate.wire.targets import shown

if TYPE_CHECKING:
    import asyncio

    import aiohttp


class Incoming:
    """The body of one answer, while it arrives."""

    def __init__(self, response: aiohttp.ClientResponse, place: str, patience: Patience) -> None:
        import asyncio

        import aiohttp

        self.content_type = response.content_type
        self.place = place
        """Who sends it, as it may be shown."""
        self._response = response
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._waits_since: float | None = None
        self._watchdog: asyncio.TimerHandle | None = None
        self._started = False
        self._problems = (aiohttp.ClientError, TimeoutError, OSError, RuntimeError)

    async def read(self) -> bytes:
        """Whatever has arrived since, and something at least; empty at the end.

        Raises: Unreachable, if nothing comes at all; StreamCut, if no more comes although more was announced.
        """
        self._waits_since = self._loop.time()
        try:
            piece = await self._response.content.readany()
        except self._problems as problem:  # a RuntimeError is how aiohttp says that the connection was closed here
            raise self._ended_by(problem) from None
        self._waits_since = None
        if not self._started:
            self._started = True
            self._expect_more()
        return piece

    def close(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()

    def _expect_more(self) -> None:
        """From the first piece on another limit holds, for which one timer serves the whole answer.

        aiohttp sets a new one for every piece, which takes it as long as all the rest that it does with a small one.
        """
        if (connection := self._response.connection) is not None and connection.protocol is not None:
            connection.protocol.read_timeout = None
            connection.protocol.start_timeout()
            if self._patience.between:
                self._watchdog = self._loop.call_later(self._patience.between, self._watch)

    def _watch(self) -> None:
        between = self._patience.between or 0.0
        now = self._loop.time()
        since = now if self._waits_since is None else self._waits_since  # whoever doesn't read isn't kept waiting
        if now - since >= between:
            self._response.content.set_exception(TimeoutError())
        else:
            self._watchdog = self._loop.call_at(since + between, self._watch)

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


@asynccontextmanager
async def post_stream(
    client: HttpClient, url: str, body: bytes, *, patience: Patience, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Incoming]:
    """Sends JSON and gives the answer as it comes. Leaving early closes the connection, and so stops the other side.

    Raises: Unreachable, BadStatus, BadAnswer; UsageError, if `url` isn't one; and what `Incoming.read` does.
    """
    # Whatever packs an answer holds its pieces back.
    sent = {"Content-Type": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    async with client.open("POST", url, headers=sent, body=body, patience=patience) as response:
        incoming = Incoming(response, shown(url), patience)
        try:
            yield incoming
        finally:
            incoming.close()
