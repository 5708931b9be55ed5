"""One thing that was asked of a model, as it is told to OpenTelemetry: a span, and what is measured of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

import msgspec
from opentelemetry.metrics import Meter
from opentelemetry.trace import Span, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from callgate.gateway.asgi import Refused
from callgate.gateway.telemetry.words import plain, whose
from callgate.gateway.turns import Told
from callgate.runtime import Said
from callgate.settings import Settings
from callgate.vocabulary import ChatRequest, Event

MOST_EVENTS = 32
"""Of a span. An answer with more repairs than that is described by the first."""
_TOKENS = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864)
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRST = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_EACH = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
"""The bounds that the conventions want."""


class Instruments:
    """What is measured, under the names that dashboards know."""

    def __init__(self, meter: Meter) -> None:
        self.tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self.duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self.first_token = meter.create_histogram(
            "gen_ai.server.time_to_first_token",
            unit="s",
            description="Time to generate first token for successful responses.",
            explicit_bucket_boundaries_advisory=_FIRST,
        )
        self.each_token = meter.create_histogram(
            "gen_ai.server.time_per_output_token",
            unit="s",
            description="Time per output token generated after the first token for successful responses.",
            explicit_bucket_boundaries_advisory=_EACH,
        )


class Operation:
    """Made when it begins; `end` is called once."""

    def __init__(
        self,
        span: Span,
        told: Told,
        common: Mapping[str, AttributeValue],
        instruments: Instruments,
        settings: Settings,
        *,
        is_stream: bool = False,
    ) -> None:
        self._is_stream = is_stream
        self._span = span
        self._told = told
        self._common = common
        self._instruments = instruments
        self._settings = settings
        self._began = time.monotonic()
        self._asked: ChatRequest | None = None
        self._said = Said()
        self.on_end: Callable[[], None] | None = None

    def listen(self, request: ChatRequest) -> None:
        """What was asked is to be recorded, and so is the answer."""
        self._asked = request if self._span.is_recording() else None

    def overheard(self, first: Event, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """What follows `first`, as it is."""
        if self._asked is None:
            return events
        self._said.hear(first)
        return self._hearing(events)

    async def _hearing(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        async with aclosing(events):
            async for event in events:
                self._said.hear(event)
                yield event

    def end(self, broken_by: str | None, problem: BaseException | None) -> None:
        told = self._told
        seconds = time.monotonic() - self._began
        failed = _failed_by(told, broken_by, problem)
        measured: dict[str, AttributeValue] = {
            **self._common,
            **whose(told.ref, self._settings),
            "gen_ai.response.model": plain(told.model),
        }
        if self._span.is_recording():
            self._describe(measured, failed)
        self._span.end()
        if self.on_end is not None:
            self.on_end()
        self._measure(measured, seconds, failed)

    def _measure(self, measured: Mapping[str, AttributeValue], seconds: float, failed: str | None) -> None:
        told, instruments = self._told, self._instruments
        if failed is not None:
            instruments.duration.record(seconds, {**measured, "error.type": failed})
            return
        instruments.duration.record(seconds, measured)
        prompt, answer = (told.usage.prompt_tokens, told.usage.completion_tokens) if told.usage else (None, None)
        for kind, count in (("input", prompt), ("output", answer)):
            if count is not None:
                instruments.tokens.record(count, {**measured, "gen_ai.token.type": kind})
        if told.first_seconds is not None:
            instruments.first_token.record(told.first_seconds, measured)
            if answer is not None and answer > 1:
                rest = max(0.0, seconds - told.first_seconds)
                instruments.each_token.record(rest / (answer - 1), measured)

    def _describe(self, measured: Mapping[str, AttributeValue], failed: str | None) -> None:
        told, span = self._told, self._span
        described: dict[str, AttributeValue] = {**measured, "callgate.mode": told.mode}
        if told.usage and told.usage.prompt_tokens is not None:
            described["gen_ai.usage.input_tokens"] = told.usage.prompt_tokens
        if told.usage and told.usage.completion_tokens is not None:
            described["gen_ai.usage.output_tokens"] = told.usage.completion_tokens
        if told.finish is not None:
            described["gen_ai.response.finish_reasons"] = (told.finish,)
        if told.first_seconds is not None and self._is_stream:
            described["gen_ai.response.time_to_first_chunk"] = told.first_seconds
        described["callgate.repairs"] = len(told.repairs)
        described["callgate.notices"] = len(told.notices)
        for repair in told.repairs[:MOST_EVENTS]:  # without what was there before, and what is there now
            span.add_event("callgate.repair", {"callgate.rule": repair["rule"], "gen_ai.tool.call.id": repair["call"]})
        for notice in told.notices[:MOST_EVENTS]:
            span.add_event("callgate.notice", {"callgate.kind": notice.kind})
        if self._asked is not None:
            described |= _content(self._asked, self._said)
        span.set_attributes(described)
        if failed is not None:
            span.set_attribute("error.type", failed)
            span.set_status(Status(StatusCode.ERROR))


def _failed_by(told: Told, broken_by: str | None, problem: BaseException | None) -> str | None:
    """A word for programs: what an error says may be anything."""
    if told.error is not None:
        return type(told.error).__name__
    match problem:
        case None:
            return broken_by
        case Refused():
            return problem.failure.kind
        case asyncio.CancelledError():
            return broken_by or "cancelled"
    return type(problem).__name__


def _content(asked: ChatRequest, said: Said) -> dict[str, AttributeValue]:
    from callgate.gateway.telemetry.content import answered, messages, tools

    told: dict[str, object] = {
        "gen_ai.input.messages": messages(asked.messages),
        "gen_ai.output.messages": answered(said),
    }
    if asked.tools:
        told["gen_ai.tool.definitions"] = tools(asked.tools)
    return {name: msgspec.json.encode(value).decode() for name, value in told.items()}
