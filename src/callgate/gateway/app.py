"""The server as a plain ASGI application: it guards the door, finds the route, and tells errors in the right words."""

from __future__ import annotations

import asyncio
import logging
import time
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec

from callgate.gateway.access import Noted, append
from callgate.gateway.answering import Answering
from callgate.gateway.asgi import ClientGone, Exchange, Receive, Refused, Scope, Send
from callgate.gateway.dialect import Dialect, Failure
from callgate.gateway.dialects import DIALECTS
from callgate.gateway.failures import failure_of, headers_of, unexpected
from callgate.gateway.guards import Guard, preflight
from callgate.gateway.metrics import CONTENT_TYPE, Metrics
from callgate.gateway.options import Options
from callgate.gateway.page import PAGE_PATHS, answer_with_page
from callgate.gateway.routing import Found, Routes, not_for
from callgate.gateway.serving import Alone, Siblings
from callgate.gateway.writing.ids import new_id, request_id
from callgate.settings import Secret, Settings, load_settings
from callgate.vocabulary import CallgateError, UsageError
from callgate.wire import hops

if TYPE_CHECKING:
    from callgate.gateway.sharing import Shared
    from callgate.gateway.telemetry import Telemetry

log = logging.getLogger(__name__)

OWN_PATHS = ("/health", "/ready", "/metrics", "/openapi.json")
_WITH_PAGES = PAGE_PATHS | {"/"}
_GONE = 499
"""What is noted where nobody was there any more to be told."""
_NOT_READY = Failure(status=503, kind="not_ready", message="the server isn't ready")


class App:
    """Give it to any ASGI server. Belongs to the event loop that starts it."""

    def __init__(
        self, settings: Settings | None = None, options: Options | None = None, siblings: Siblings | None = None
    ) -> None:
        """`siblings` are the other workers, if there are any. Raises: UsageError, if the options are no good."""
        options = options or Options()
        self._options = msgspec.structs.replace(options, instance=options.instance or token_hex(8))
        self._settings = settings or load_settings()
        self._guard = Guard(self._options)
        self._routes = Routes(DIALECTS)
        self._siblings = siblings or Alone()
        self._answering: Answering | None = None
        self._shared: Shared | None = None
        """Only where there is a Redis for it."""
        self.telemetry: Telemetry | None = None
        """Only where it is asked for."""
        self.metrics = Metrics()
        self._under_way = 0
        """Requests that are being answered."""
        self.failure: CallgateError | None = None
        """Why it couldn't be started."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._exchange(Exchange(scope, receive, send))

    async def start(self) -> None:
        """Raises: UsageError, if the options are no good."""
        if (path := self._options.access_log) is not None:
            try:
                append(path)
            except OSError as error:
                raise UsageError(f"the access log {path!r} can't be written: {error.strerror}") from None
        if self._options.otel is not None and self.telemetry is None:
            from callgate.gateway.telemetry import exporting

            self.telemetry = exporting(self._options.otel, self._settings)
        self._answering = Answering(self._settings, self._options, self.metrics, self._siblings.busy, self.telemetry)
        if self._siblings.keeper is not None:
            self._answering.keep_in(self._siblings.keeper)
        if self._options.redis is not None:
            await self._share(self._options.redis, self._answering)

    async def _share(self, url: Secret, answering: Answering) -> None:
        from callgate.gateway.sharing import Shared

        try:
            self._shared = Shared(url, self._settings, self.metrics, self._guard.share)
            await self._shared.join()
            self._guard.check_keys(self._options)
        except CallgateError:
            await self.stop()
            raise
        answering.keep_in(self._shared.answers)
        self._shared.look_after(answering.endpoints)

    async def stop(self) -> None:
        answering, self._answering = self._answering, None
        if answering:
            await answering.close()
        shared, self._shared = self._shared, None
        if shared:
            await shared.close()
        if self.telemetry is not None:
            await self.telemetry.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            kind = (await receive())["type"]
            try:
                await (self.start() if kind == "lifespan.startup" else self.stop())
            except CallgateError as error:
                self.failure = error
                await send({"type": f"{kind}.failed", "message": error.message})
                return
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return

    async def _exchange(self, exchange: Exchange) -> None:
        started = time.monotonic()
        found = self._routes.find(exchange.method, exchange.path, exchange.headers)
        noted = Noted(exchange.method, found.route.path if found.route else _own(exchange.path))
        if name := found.dialect.id_header:
            noted.request_id = f"req_{new_id()}"
            request_id.set(noted.request_id)
            exchange.more_headers.append((name, noted.request_id.encode()))
        self._under_way += 1
        is_traced = self.telemetry is not None and found.route is not None
        arrival = self.telemetry.arrival(exchange, noted) if self.telemetry and is_traced else None
        try:
            await self._answered(exchange, found, noted)
        except ClientGone:
            exchange.status = _GONE
        except Refused as refused:
            await _refuse(exchange, found.dialect, refused)
        except CallgateError as error:
            await _refuse(exchange, found.dialect, Refused(failure_of(error), headers_of(error)))
        except Exception as error:
            log.exception("a mistake of ours (%s)", type(error).__name__)
            await _refuse(exchange, found.dialect, Refused(unexpected()))
        finally:
            self._under_way -= 1
            noted.status, noted.seconds = exchange.status or _GONE, time.monotonic() - started
            noted.broken_by = exchange.broken_by
            self.metrics.requests.add(noted.route, noted.model, str(noted.status))
            if noted.broken_by:
                self.metrics.broken.add(noted.route, noted.model, noted.broken_by)
            self.metrics.seconds.observe(noted.seconds, noted.route)
            noted.write(self._options.access_log)
            if arrival is not None:
                arrival.end(noted, is_told=exchange.status not in (None, _GONE))

    async def _answered(self, exchange: Exchange, found: Found, noted: Noted) -> None:
        through = self._guard.check(exchange)
        hops.set((*through, self._options.instance))
        if exchange.method == "OPTIONS":
            await exchange.answer(b"", status=204, headers=preflight(exchange, self._routes.methods(exchange.path)))
        elif exchange.path in _WITH_PAGES and await answer_with_page(exchange):
            pass
        elif exchange.path in OWN_PATHS:
            await self._tell(exchange)
        elif found.route is None:
            raise self._routes.nothing_at(exchange.method, exchange.path)
        elif self._answering is None:
            raise Refused(_NOT_READY)
        else:
            await self._answering.answer(exchange, found, noted)

    async def _tell(self, exchange: Exchange) -> None:
        if exchange.method not in ("GET", "HEAD"):
            raise not_for(exchange.method, ("GET", "HEAD"))
        if exchange.path == "/metrics":
            await exchange.answer(await self._counted(), content_type=CONTENT_TYPE)
        elif exchange.path == "/openapi.json":
            from callgate.gateway.openapi import document

            has_default = bool(self._options.model or self._settings.models.default)
            await exchange.answer(document(DIALECTS, keyed=self._guard.needs_key, has_default=has_default))
        elif exchange.path == "/ready":
            await exchange.answer(self._readiness())
        else:
            await exchange.answer(b'{"status":"ok"}')

    def _readiness(self) -> bytes:
        """It takes requests even where servers behind are out, for they may be back: how many are is told, too. A
        server is out when one of its models is: the others haven't been asked since.
        """
        if self._answering is None:
            raise Refused(_NOT_READY)
        every = tuple(self._answering.endpoints)
        out = {each.place for each in every if each.state == "out"}
        up = {each.place for each in every} - out
        told = {"status": "degraded" if out else "ok", "endpoints": {"up": len(up), "out": len(out)}}
        if self._shared:
            told |= {"redis": "up" if self._shared.is_up else "away"}
            told["status"] = "ok" if self._shared.is_up and not out else "degraded"
        return msgspec.json.encode(told)

    async def _counted(self) -> bytes:
        """By all workers."""
        own = self.count()
        try:
            others = await self._siblings.others(own)
        except TimeoutError:
            raise Refused(Failure(status=503, kind="workers", message="the other workers didn't answer")) from None
        if others is None:
            return self.metrics.written()
        total = Metrics()
        total.add(own)
        total.add(others)
        return total.written()

    def count(self) -> msgspec.Raw:
        """What this worker has counted."""
        if self._answering:
            self._answering.measure_endpoints()
        self.metrics.under_way.set(to=self._under_way)
        self.metrics.tasks.set(to=len(asyncio.all_tasks()))
        return self.metrics.snapshot()


def _own(path: str) -> str:
    """How it is counted: what clients make up isn't told apart."""
    return path if path in OWN_PATHS or path in PAGE_PATHS else "none"


async def _refuse(exchange: Exchange, dialect: Dialect, refused: Refused) -> None:
    if exchange.status is None:
        content = msgspec.json.encode(dialect.error(refused.failure))
        await exchange.answer(content, status=refused.failure.status, headers=refused.headers)
    elif not exchange.is_over:
        # Half an answer: the client sees that it has no end.
        raise refused
