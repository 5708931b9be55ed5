"""Connections to servers that are asked over and over, each for one answer at a time, and kept for the next.

For answers that stream: what a client for all purposes does for each of them costs more than all that is done with it
here. Proxies, redirects and short questions are left to such a client.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, NamedTuple, cast

from callgate.wire.framing import LARGEST_HEAD, Framing, Head, NotHttp, read_head

if TYPE_CHECKING:
    import ssl

    from aiohappyeyeballs import AddrInfoType

KEPT_SECONDS = 15.0
"""Without a question. Servers close theirs after a while; whoever comes a moment too late has to ask twice."""
MOST_KEPT = 256
"""To one server, while nobody needs them."""
HIGH_WATER = 256 << 10
"""Bytes that nobody has read yet, from which on the server has to wait."""
_TRY_THE_NEXT_SECONDS = 0.25
"""How long one address of a host may take before another one is tried beside it."""
_HEAD_END = b"\r\n\r\n"


class Place(NamedTuple):
    host: str
    port: int
    is_tls: bool


class Closed(Exception):
    """The connection is gone, or was closed here."""


class Connection(asyncio.Protocol):
    """Use: `send`, then `news` until `head` is there; then `news` until there is something to take, and `take`."""

    def __init__(self, place: Place, loop: asyncio.AbstractEventLoop) -> None:
        self.place = place
        self.head: Head | None = None
        self.was_heard = False
        """Something has come since it was last asked."""
        self.kept_since = 0.0
        self.is_gone = False
        self.problem: Exception | None = None
        """What ended it before its time."""
        self.held = 0
        """Bytes of the answer that have come, and weren't taken yet."""
        self.is_over = False
        """The whole answer has come; some of it may be still to be taken."""
        self.loop = loop
        self._transport: asyncio.Transport | None = None
        self._begun = b""
        self._framing: Framing | None = None
        self._pieces: list[bytes] = []
        self._is_paused = False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def can_be_kept(self) -> bool:
        """Nothing of its last answer is left, neither to come nor to be taken: the next one who asks would get it."""
        if self.held or self._is_paused or not self.is_over:
            return False
        framing = self._framing
        if self.is_gone or self.problem is not None or framing is None or self.head is None:
            return False
        return not framing.left_over and not self._begun and self.head.is_kept

    def send(self, question: bytes) -> None:
        """Raises: Closed."""
        self.was_heard = False
        if self._transport is None or self.is_gone or self._transport.is_closing():
            raise Closed
        self.head = self._framing = None
        self.is_over = False
        self._transport.write(question)

    def news(self) -> asyncio.Future[None]:
        """To wait for: that something has come, or goes wrong."""
        self._waiter = waiter = self.loop.create_future()
        return waiter

    def take(self) -> bytes:
        """What has come of the body, empty if there is no more.

        Raises: what ended it before its end, after all that came before.
        """
        if pieces := self._pieces:
            taken = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            self._pieces = []
            self.held = 0
            if self._is_paused and self._transport is not None:
                self._is_paused = False
                self._transport.resume_reading()
            return taken
        if self.problem is not None:
            raise self.problem
        return b""

    def fail(self, problem: Exception) -> None:
        if self.problem is None:
            self.problem = problem
        self._wake()

    def close(self) -> None:
        """At once: whoever sends still isn't listened to any more."""
        if self._transport is not None:
            self._transport.abort()
        self.fail(Closed())

    # --- what the event loop calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.was_heard = True
        framing = self._framing
        try:
            if framing is None:
                data = self._read_head(data)
                framing = self._framing
                if framing is None:
                    return
            if data and (piece := framing.feed(data)):
                self._pieces.append(piece)
                self.held += len(piece)
                if self.held > HIGH_WATER and not self._is_paused and self._transport is not None:
                    self._is_paused = True
                    self._transport.pause_reading()
            self.is_over = framing.is_over
        except NotHttp as problem:
            self.fail(problem)
            if self._transport is not None:
                self._transport.abort()
        self._wake()

    def connection_lost(self, problem: Exception | None) -> None:
        self.is_gone = True
        if self._framing is not None and problem is None:
            with contextlib.suppress(NotHttp):
                self._framing.close()
            self.is_over = self._framing.is_over
        if not self.is_over:
            self.fail(Closed())
        self._wake()

    def _read_head(self, data: bytes) -> bytes:
        """What of `data` lies behind it."""
        self._begun += data
        while (end := self._begun.find(_HEAD_END, 0, LARGEST_HEAD)) >= 0:
            head = read_head(self._begun[:end])
            data, self._begun = self._begun[end + 4 :], b""
            if head.status >= 200:
                self.head, self._framing = head, head.new_framing()
                return data
            self._begun = data  # that was only to say that it will take a while
        if len(self._begun) >= LARGEST_HEAD:
            raise NotHttp("its head doesn't end")
        return b""

    def _wake(self) -> None:
        if (waiter := self._waiter) is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)


class Connections:
    """Belongs to the event loop in which it is first used."""

    def __init__(self) -> None:
        self._idle: dict[Place, list[Connection]] = {}
        self._lent: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._tls: ssl.SSLContext | None = None

    def kept(self, place: Place) -> Connection | None:
        """One that was used before. Whoever gets it gives it back."""
        idle = self._idle.get(place)
        while idle:
            connection = idle.pop()
            # Whatever a server says in between is a problem, too.
            if not connection.is_gone and connection.problem is None:
                self._lent.add(connection)
                return connection
        return None

    async def new(self, place: Place) -> Connection:
        """Whoever gets it gives it back. Raises: OSError, ssl.SSLError among them."""
        from aiohappyeyeballs import start_connection

        loop = asyncio.get_running_loop()
        tls = await self._trust() if place.is_tls else None
        addresses = await _addresses(place, loop)
        opened = await start_connection(addresses, happy_eyeballs_delay=_TRY_THE_NEXT_SECONDS, interleave=1, loop=loop)
        try:
            _, connection = await loop.create_connection(
                lambda: Connection(place, loop), sock=opened, ssl=tls, server_hostname=place.host if tls else None
            )
        except BaseException:
            opened.close()
            raise
        self._lent.add(connection)
        return connection

    async def _trust(self) -> ssl.SSLContext:
        """Whom this machine trusts, read once: that takes a while."""
        if self._tls is None:
            import ssl

            self._tls = await asyncio.to_thread(ssl.create_default_context)
        return self._tls

    def give_back(self, connection: Connection) -> None:
        self._lent.discard(connection)
        idle = self._idle.setdefault(connection.place, [])
        if not connection.can_be_kept or len(idle) >= MOST_KEPT:
            connection.close()
            return
        loop = connection.loop
        connection.kept_since = loop.time()
        idle.append(connection)
        if self._sweeper is None:
            self._sweeper = loop.call_later(KEPT_SECONDS, self._sweep, loop)

    def close(self) -> None:
        """Those who still read are told so."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in [*self._lent, *(each for idle in self._idle.values() for each in idle)]:
            connection.close()
        self._lent.clear()
        self._idle.clear()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """The oldest come first."""
        self._sweeper = None
        oldest = loop.time() - KEPT_SECONDS
        for place, idle in list(self._idle.items()):
            young = [each for each in idle if each.kept_since > oldest and not each.is_gone]
            for each in idle:
                if each.kept_since <= oldest:
                    each.close()
            if young:
                self._idle[place] = young
            else:
                del self._idle[place]
        if self._idle:
            first = min(each.kept_since for idle in self._idle.values() for each in idle)
            self._sweeper = loop.call_at(first + KEPT_SECONDS, self._sweep, loop)


async def _addresses(place: Place, loop: asyncio.AbstractEventLoop) -> list[AddrInfoType]:
    """Raises: OSError, if nobody knows the host."""
    import socket
    from ipaddress import ip_address

    try:
        version = ip_address(place.host).version
    except ValueError:
        return list(await loop.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM))
    if version == 4:
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (place.host, place.port))]
    return [(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (place.host, place.port, 0, 0))]
