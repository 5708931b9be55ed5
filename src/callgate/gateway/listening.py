"""Work that is done only for as long as somebody listens, and for no longer than it may take.

Most of it is done before anybody can have gone away, and long before it is too late. So it isn't looked after before
it has taken a while, and one timer tells that of all of it.
"""

from __future__ import annotations

import asyncio
import time
from contextvars import Context
from types import TracebackType

from callgate.gateway.asgi import ClientGone, Exchange

SOON_SECONDS = 0.02
"""An answer that takes no longer is given without looking whether somebody is there: that would take as long. From
twice that on, somebody looks.
"""


class Watch:
    """Over all that is being done. Belongs to one event loop."""

    def __init__(self) -> None:
        self._new: set[_Listening | _Limited] = set()
        self._older: set[_Listening | _Limited] = set()
        """What was there already when it last rang."""
        self._timer: asyncio.TimerHandle | None = None
        self._nobodys = Context()
        """The timer is for everybody, and so it knows of no request."""

    def while_listened_to(self, exchange: Exchange, *, after: asyncio.Event | None = None) -> _Listening:
        """Ends what is done in it when the client goes away, before the answer is whole. The body must have been read,
        or be read until `after`.

        Raises: ClientGone.
        """
        return _Listening(self, exchange, after)

    def within(self, seconds: float) -> _Limited:
        """Ends what is done in it when it takes longer; 0: never. Raises: TimeoutError."""
        return _Limited(self, seconds)

    def begin(self, work: _Listening | _Limited) -> None:
        self._new.add(work)
        if self._timer is None:
            self._set()

    def end(self, work: _Listening | _Limited) -> None:
        self._new.discard(work)
        self._older.discard(work)

    def _set(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SOON_SECONDS, self._ring, context=self._nobodys)

    def _ring(self) -> None:
        late, self._older, self._new = self._older, self._new, set()
        self._timer = None
        if self._older:
            self._set()
        for work in late:
            work.look_after()


class _Listening:
    __slots__ = ("_after", "_exchange", "_listener", "_task", "_watch")

    def __init__(self, watch: Watch, exchange: Exchange, after: asyncio.Event | None) -> None:
        self._watch = watch
        self._exchange = exchange
        self._after = after
        self._task: asyncio.Task[object] | None = None
        self._listener: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._watch.begin(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._task is not None
        self._watch.end(self)
        if self._listener is not None:
            self._listener.cancel()
        if isinstance(error, asyncio.CancelledError) and self._exchange.is_gone and self._task.uncancel() == 0:
            raise ClientGone from None  # and nobody else wants it to end

    def look_after(self) -> None:
        self._listener = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        exchange = self._exchange
        if self._after is not None:
            await self._after.wait()
        while (await exchange.receive())["type"] != "http.disconnect":
            pass
        if not exchange.is_over and self._task is not None:
            exchange.is_gone = True
            self._task.cancel()


class _Limited:
    """As `asyncio.timeout` does it, for what is hardly ever late."""

    __slots__ = ("_began", "_cancelled", "_is_late", "_seconds", "_task", "_timer", "_watch")

    def __init__(self, watch: Watch, seconds: float) -> None:
        self._watch = watch
        self._seconds = seconds
        self._began = 0.0
        self._task: asyncio.Task[object] | None = None
        self._cancelled = 0
        """How often somebody else had wanted it to end, before it began."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_late = False

    def __enter__(self) -> None:
        if not self._seconds:
            return
        self._task = asyncio.current_task()
        assert self._task is not None
        self._cancelled = self._task.cancelling()
        self._began = time.monotonic()
        if self._seconds > 2 * SOON_SECONDS:
            self._watch.begin(self)
        else:
            self.look_after()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._watch.end(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._is_late and self._task is not None:
            is_wanted = self._task.uncancel() <= self._cancelled
            if is_wanted and isinstance(error, asyncio.CancelledError):
                raise TimeoutError from error

    def look_after(self) -> None:
        left = self._began + self._seconds - time.monotonic()
        self._timer = asyncio.get_running_loop().call_later(max(0.0, left), self._expire)

    def _expire(self) -> None:
        assert self._task is not None
        self._is_late = True
        self._task.cancel()
