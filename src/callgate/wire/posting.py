"""A question whose answer streams: over a connection of our own, or through a proxy."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

from callgate.vocabulary import BackendError, BadAnswer, Unreachable
from callgate.wire.connections import Closed, Connection, Connections, Place
from callgate.wire.framing import Head, NotHttp
from callgate.wire.http import MAX_ERROR_BYTES, PAUSE_SECONDS, HttpClient, Patience, bad_status
from callgate.wire.incoming import Direct, Incoming, Proxied
from callgate.wire.questions import ALWAYS, question_to
from callgate.wire.tapping import Exchange, overheard
from callgate.wire.targets import proxy_for

if TYPE_CHECKING:
    from types import TracebackType

    import aiohttp

_ERROR_SECONDS = 5.0
"""For the body of an answer whose status says it all."""


def post_stream(
    client: HttpClient, url: str, body: bytes, *, patience: Patience, headers: Mapping[str, str] | None = None
) -> AbstractAsyncContextManager[Incoming]:
    """Sends JSON and gives the answer as it comes. Leaving early closes the connection, and so stops the other side.

    Raises: Unreachable, BadStatus, BadAnswer; UsageError, if `url` isn't one; and what `Incoming.read` does.
    """
    return _Posted(client, url, headers or {}, body, patience)


class _Posted(AbstractAsyncContextManager[Incoming]):
    def __init__(
        self, client: HttpClient, url: str, headers: Mapping[str, str], body: bytes, patience: Patience
    ) -> None:
        self._client, self._url, self._headers, self._body, self._patience = client, url, headers, body, patience
        self._question = question_to(url, headers)
        self._place = self._question.shown
        self._direct: tuple[Connections, Connection, Direct] | None = None
        self._proxied: AbstractAsyncContextManager[aiohttp.ClientResponse] | None = None

    async def __aenter__(self) -> Incoming:
        question = self._question
        exchange = overheard(self._place, self._body)
        if not question.is_here and proxy_for(question.target)[0] is not None:
            return await self._through_the_proxy(exchange)
        connections = self._client.connections
        connection = await self._asked(connections)
        head = connection.head
        assert head is not None
        incoming = Direct(connection, head, self._place, self._patience)
        self._direct = connections, connection, incoming
        if exchange is not None:
            incoming.exchange, exchange.status = exchange, head.status
        if not 200 <= head.status < 300:
            await self._refused(head, incoming)
        if head.headers.get("content-encoding", "identity") != "identity":
            self._leave()
            raise BadAnswer(f"{self._place} packs its answer, although it was asked not to")
        return incoming

    async def _through_the_proxy(self, exchange: Exchange | None) -> Incoming:
        self._proxied = self._client.open(
            "POST", self._url, headers={**ALWAYS, **self._headers}, body=self._body, patience=self._patience
        )
        response = await self._proxied.__aenter__()
        incoming = Proxied(response, self._place, self._patience)
        if exchange is not None:
            incoming.exchange, exchange.status = exchange, response.status
        return incoming

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> bool | None:
        if self._proxied is not None:
            return await self._proxied.__aexit__(kind, error, at)
        self._leave()
        return None

    def _leave(self) -> None:
        if self._direct is not None:
            connections, connection, incoming = self._direct
            self._direct = None
            incoming.close()
            connections.give_back(connection)

    async def _asked(self, connections: Connections) -> Connection:
        """A connection on which an answer has begun. One that was kept may prove closed: then it is asked once more,
        if not a byte has come back. All that we send are questions.
        """
        question = self._question
        sent = b"%bContent-Length: %d\r\n\r\n%b" % (question.head, len(self._body), self._body)
        connection = connections.kept(question.place)
        for is_last in (connection is None, True):
            connection = connection or await self._connected(connections, question.place)
            late = None
            try:
                connection.send(sent)
                if limit := self._patience.first_byte:
                    late = connection.loop.call_later(limit, connection.fail, TimeoutError())
                while connection.head is None:
                    await connection.news()
                    if connection.head is None:
                        connection.take()
            except Closed:
                connections.give_back(connection)
                if is_last or connection.was_heard:
                    raise Unreachable(f"{self._place} closed the connection without an answer") from None
            except NotHttp as problem:
                connections.give_back(connection)
                raise BadAnswer(f"{self._place} doesn't speak HTTP as we know it ({problem})") from None
            except TimeoutError:
                connections.give_back(connection)
                raise Unreachable(
                    f"{self._place} didn't answer within {self._patience.first_byte:g} s",
                    hint="is the server busy loading a model?",
                ) from None
            except BaseException:
                connections.give_back(connection)
                raise
            else:
                return connection
            finally:
                if late is not None:
                    late.cancel()
            # A server that restarts gets a crowd that is spread out.
            await asyncio.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311
            connection = None
        raise AssertionError

    async def _connected(self, connections: Connections, place: Place) -> Connection:
        import socket
        import ssl

        try:
            async with asyncio.timeout(self._patience.connect):
                return await connections.new(place)
        except TimeoutError:
            message = f"{self._place} can't be reached within {self._patience.connect:g} s"
        except socket.gaierror:
            raise Unreachable(
                f"{self._place} can't be reached: nobody knows its host", hint="is the name right?"
            ) from None
        except (ssl.SSLError, ssl.CertificateError):
            message = f"{self._place} can't be reached: its certificate isn't trusted, or it doesn't speak TLS"
            raise Unreachable(message) from None
        except OSError as problem:
            why = os.strerror(problem.errno) if problem.errno else "no connection"
            message = f"{self._place} can't be reached: {why}"
        raise Unreachable(message, hint="is the server running?") from None

    async def _refused(self, head: Head, incoming: Incoming) -> None:
        """Raises: BadStatus. The body may take its time or break off: the status alone says enough."""
        body = b""
        try:
            with suppress(BackendError, TimeoutError):
                async with asyncio.timeout(_ERROR_SECONDS):
                    while len(body) < MAX_ERROR_BYTES and (piece := await incoming.read()):
                        body += piece
        finally:
            self._leave()
        raise bad_status(self._url, head.status, body[:MAX_ERROR_BYTES], head.headers)
