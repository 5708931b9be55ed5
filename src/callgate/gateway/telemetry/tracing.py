"""What is begun when a request comes, and when a model is asked, and ended when they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextvars import Token

from opentelemetry import context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from callgate import __version__
from callgate.gateway.access import Noted
from callgate.gateway.asgi import Exchange
from callgate.gateway.dialect import EmbedWish, Wish
from callgate.gateway.telemetry.operation import Instruments, Operation
from callgate.gateway.telemetry.words import asked_for, plain, whose
from callgate.gateway.turns import Told
from callgate.runtime import in_own_thread
from callgate.settings import Settings
from callgate.wire import trace_headers

NAME = "callgate"
_COMPLETIONS = frozenset({"/v1/completions", "/api/generate"})
_TRACE = TraceContextTextMapPropagator()
_TRACE_HEADERS = ("traceparent", "tracestate")
LONGEST_HEADER = 4096
CLOSE_SECONDS = 3.0
"""For the last to be sent when the server ends."""


class Telemetry:
    """`on_close` is called at the end, and may take its time; if it takes too long, `give_up` are."""

    def __init__(
        self,
        tracers: TracerProvider,
        meters: MeterProvider,
        settings: Settings,
        *,
        content: bool = False,
        on_close: Callable[[], None] | None = None,
        give_up: Iterable[Callable[[], object]] = (),
    ) -> None:
        self._tracer = tracers.get_tracer(NAME, __version__)
        self._instruments = Instruments(meters.get_meter(NAME, __version__))
        self._settings = settings
        self._content = content
        self._on_close, self._give_up = on_close, tuple(give_up)

    async def close(self) -> None:
        """What wasn't sent yet is sent, if that doesn't take long."""
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            try:
                async with asyncio.timeout(CLOSE_SECONDS):
                    await in_own_thread(on_close, name="callgate-telemetry")
            except TimeoutError:
                for give_up in self._give_up:
                    give_up()

    def arrival(self, exchange: Exchange, noted: Noted) -> Arrival:
        """Of a request. It belongs to the trace that its client names."""
        named = {name: exchange.headers[name] for name in _TRACE_HEADERS if name in exchange.headers}
        if any(len(value) > LONGEST_HEADER for value in named.values()):
            named = {}
        attributes: dict[str, AttributeValue] = {
            "http.request.method": noted.method,
            "http.route": noted.route,
            "url.path": plain(exchange.path),
            "url.scheme": "http",
        }
        span = self._tracer.start_span(
            f"{noted.method} {noted.route}",
            context=_TRACE.extract(named),
            kind=SpanKind.SERVER,
            attributes=attributes,
        )
        return Arrival(span)

    def talk(self, told: Told, wish: Wish, noted: Noted) -> Operation:
        """A model is asked for an answer. Whoever is asked is told which trace that belongs to."""
        name = "text_completion" if noted.route in _COMPLETIONS else "chat"
        operation = self._operation(name, told, wish.model, asked_for(wish.request, stream=wish.stream))
        if self._content:
            operation.listen(wish.request)
        return operation

    def embed(self, told: Told, wish: EmbedWish) -> Operation:
        return self._operation("embeddings", told, wish.model, {})

    def _operation(self, name: str, told: Told, model: str, attributes: dict[str, AttributeValue]) -> Operation:
        # A name with an address may have a password in it.
        asked = plain(model) if model and "://" not in model else plain(told.model)
        common: dict[str, AttributeValue] = {"gen_ai.operation.name": name, "gen_ai.request.model": asked}
        span = self._tracer.start_span(
            f"{name} {asked}",
            kind=SpanKind.CLIENT,
            attributes={**common, **whose(told.ref, self._settings), **attributes},
        )
        is_stream = "gen_ai.request.stream" in attributes
        operation = Operation(span, told, common, self._instruments, self._settings, is_stream=is_stream)
        operation.on_end = _tell_onward(span)
        return operation


class Arrival:
    """A request, from when it came to when it was answered: what is done meanwhile is part of it."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self._entered: Token[context.Context] = context.attach(set_span_in_context(span))
        self._leave = _tell_onward(span)

    def end(self, noted: Noted, *, is_told: bool) -> None:
        """`is_told`: the client got an answer."""
        if is_told:
            self._span.set_attribute("http.response.status_code", noted.status)
        problem = noted.broken_by or (str(noted.status) if is_told and noted.status >= 500 else None)
        if problem:
            self._span.set_attribute("error.type", problem)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()
        context.detach(self._entered)
        self._leave()


def _tell_onward(span: Span) -> Callable[[], None]:
    """Whoever is asked from now on is told of it, until what this gives is called: also by tasks that began meanwhile
    and go on, such as looks at a server that failed.
    """
    onward: dict[str, str] = {}
    _TRACE.inject(onward, set_span_in_context(span))
    trace_headers.set(onward)
    return onward.clear
