from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from callgate.gateway import Options, Otel
from callgate.gateway.access import Noted
from callgate.gateway.asgi import Exchange
from callgate.gateway.telemetry import Telemetry, export
from callgate.settings import Settings
from callgate.vocabulary import (
    AssistantDelta,
    Done,
    Event,
    Notice,
    Repair,
    ToolCall,
    ToolCallEvent,
    Usage,
)
from callgate.wire import trace_headers
from tests.gateway.command import served
from tests.gateway.running import MULTIPLY, PlayedServer, gateway, no_servers, recording
from tests.gateway.telemetry.collector import Collector
from tests.wire.server import serving

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
SECRET = "zebra-4711"
"""What nobody may tell unless asked to."""
ASKED = {"model": "m", "messages": [{"role": "user", "content": f"What is {SECRET}?"}]}
MENDED = ToolCall("call_1", "multiply", {"a": SECRET}, repairs=(Repair("/a", SECRET, SECRET, "name-case"),))


Said = Event | Mapping[str, object]


class Seen(NamedTuple):
    spans: InMemorySpanExporter
    reader: InMemoryMetricReader

    def span(self, name: str) -> ReadableSpan:
        found = [span for span in self.spans.get_finished_spans() if span.name == name]
        assert len(found) == 1, [span.name for span in self.spans.get_finished_spans()]
        return found[0]

    def attributes(self, name: str) -> Mapping[str, Any]:
        return self.span(name).attributes or {}

    def points(self) -> dict[str, list[HistogramDataPoint]]:
        data = self.reader.get_metrics_data()
        assert data
        every = [metric for each in data.resource_metrics for scope in each.scope_metrics for metric in scope.metrics]
        return {metric.name: list(metric.data.data_points) for metric in every}  # type: ignore[arg-type]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(shutdown_on_exit=False), MeterProvider([reader], shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(spans))

    def remembering(otel: Otel, settings: Settings) -> Telemetry:
        return Telemetry(tracers, meters, settings, content=otel.content)

    monkeypatch.setattr(export, "exporting", remembering)
    return Seen(spans, reader)


def options(ref: str, *, content: bool = False) -> Options:
    return Options(aliases={"m": ref}, otel=Otel(content=content))


async def test_an_answer_is_a_span_of_a_client_within_one_of_a_server(tmp_path: Path, seen: Seen) -> None:
    said: list[Said] = [AssistantDelta("Hello"), Usage(12, 5), Done("stop")]
    async with gateway(options(recording(tmp_path / "r", said))) as served_:
        body = {**ASKED, "temperature": 0.5, "max_tokens": 9, "seed": 3, "stop": ["x"], "top_p": 1}
        answer = await served_.post("/v1/chat/completions", body)
    assert answer.status == 200
    arrival, chat = seen.span("POST /v1/chat/completions"), seen.span("chat m")
    assert (arrival.kind, chat.kind) == (SpanKind.SERVER, SpanKind.CLIENT)
    assert chat.parent
    assert chat.parent.span_id == arrival.context.span_id
    assert (arrival.attributes or {})["http.response.status_code"] == 200
    told = dict(chat.attributes or {})
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 1.0,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.seed": 3,
        "gen_ai.request.stop_sequences": ("x",),
        "gen_ai.response.model": str(tmp_path / "r"),
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 5,
        "callgate.mode": "off",
        "callgate.repairs": 0,
        "callgate.notices": 0,
    }


async def test_what_was_mended_is_told_without_what_it_was(tmp_path: Path, seen: Seen) -> None:
    said: list[Said] = [Notice("context_too_small", SECRET), ToolCallEvent(MENDED), Done("tool_calls")]
    async with gateway(options(recording(tmp_path / "r", said))) as served_:
        await served_.post("/v1/chat/completions", {**ASKED, "tools": [MULTIPLY], "stream": True})
    chat = seen.span("chat m")
    told = chat.attributes or {}
    assert told["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert told["gen_ai.request.stream"] is True
    assert "gen_ai.response.time_to_first_chunk" in told
    assert told["callgate.tools"] == 1
    assert isinstance(told["callgate.repairs"], int)
    assert told["callgate.repairs"] >= 1
    kinds = {event.name for event in chat.events}
    assert kinds >= {"callgate.repair", "callgate.notice"}
    assert SECRET not in "".join(span.to_json() for span in seen.spans.get_finished_spans())


async def test_what_was_said_is_told_only_where_it_is_asked_for(tmp_path: Path, seen: Seen) -> None:
    said: list[Said] = [AssistantDelta(f"It is {SECRET}"), ToolCallEvent(MENDED), Done("tool_calls")]
    async with gateway(options(recording(tmp_path / "r", said), content=True)) as served_:
        await served_.post("/v1/chat/completions", {**ASKED, "tools": [MULTIPLY], "stream": True})
    told = seen.attributes("chat m")
    assert f"What is {SECRET}?" in told["gen_ai.input.messages"]
    assert f"It is {SECRET}" in told["gen_ai.output.messages"]
    assert '"tool_call"' in told["gen_ai.output.messages"]
    assert told["gen_ai.tool.definitions"] == '[{"type":"function","name":"multiply"}]'


async def test_tokens_and_times_are_measured(tmp_path: Path, seen: Seen) -> None:
    said: list[Said] = [AssistantDelta("Hello"), Usage(12, 5), Done("stop")]
    async with gateway(options(recording(tmp_path / "r", said))) as served_:
        await served_.post("/api/generate", {"model": "m", "prompt": "hello"})
    points = seen.points()
    tokens = {point.attributes["gen_ai.token.type"]: point.sum for point in points["gen_ai.client.token.usage"]}  # type: ignore[index]
    assert tokens == {"input": 12, "output": 5}
    (duration,) = points["gen_ai.client.operation.duration"]
    assert duration.attributes["gen_ai.operation.name"] == "text_completion"  # type: ignore[index]
    assert duration.explicit_bounds[:3] == (0.01, 0.02, 0.04)
    assert points["gen_ai.server.time_to_first_token"][0].explicit_bounds[0] == 0.001
    assert points["gen_ai.server.time_per_output_token"][0].explicit_bounds[-1] == 2.5


async def test_an_error_is_named_and_counts_no_tokens(tmp_path: Path, seen: Seen) -> None:
    said: list[Said] = [Usage(3, 4), {"error": {"type": "BadAnswer", "message": SECRET}}]
    async with gateway(options(recording(tmp_path / "r", said))) as served_:
        answer = await served_.post("/v1/chat/completions", ASKED)
    assert answer.status == 502
    chat = seen.span("chat m")
    assert chat.status.status_code is StatusCode.ERROR
    assert (chat.attributes or {})["error.type"] == "BadAnswer"
    assert seen.attributes("POST /v1/chat/completions")["error.type"] == "502"
    points = seen.points()
    assert points["gen_ai.client.operation.duration"][0].attributes["error.type"] == "BadAnswer"  # type: ignore[index]
    assert "gen_ai.client.token.usage" not in points
    assert SECRET not in "".join(span.to_json() for span in seen.spans.get_finished_spans())


async def test_a_trace_goes_on_through_the_gate(seen: Seen) -> None:
    server = PlayedServer()
    server.go_on.set()
    async with server.served() as url, gateway(options(f"{url}/v1#slow")) as served_:
        await served_.post(
            "/v1/chat/completions", ASKED, traceparent=PARENT, tracestate="vendor=1", baggage=f"k={SECRET}"
        )
    chat = seen.span("chat m")
    assert f"{chat.context.trace_id:032x}" == TRACE
    onward = server.headers[0]
    assert onward["traceparent"] == f"00-{TRACE}-{chat.context.span_id:016x}-01"
    assert onward["tracestate"] == "vendor=1"
    assert "baggage" not in onward
    told = chat.attributes or {}
    assert told["server.address"] == "127.0.0.1"
    assert told["server.port"] == int(url.rpartition(":")[2])
    assert told["gen_ai.provider.name"] == "openai"


async def test_only_what_is_done_for_a_request_is_part_of_its_trace(seen: Seen) -> None:
    heard: list[tuple[str, str | None]] = []

    async def passed(request: web.Request) -> web.StreamResponse:
        heard.append((request.path, request.headers.get("traceparent")))
        return web.json_response({})

    async with serving(("*", "/{path:.*}", passed)) as url, gateway(Options(otel=Otel()), no_servers(url)) as served_:
        await served_.post("/api/pull", {"model": "x"}, traceparent=PARENT)
        arrival = seen.span("POST /api/pull")
        assert ("/api/pull", f"00-{TRACE}-{arrival.context.span_id:016x}-01") in heard
        heard.clear()
        await served_.get("/health")
    assert all(parent is None for _, parent in heard)


async def test_a_task_that_outlives_a_request_tells_nobody_of_it(seen: Seen) -> None:
    telemetry = export.exporting(Otel(), no_servers())
    arrival = telemetry.arrival(_exchange(), Noted("POST", "/v1/chat/completions"))
    go_on = asyncio.Event()

    async def later() -> object:
        assert trace_headers.get()
        go_on.set()
        await ended.wait()
        return trace_headers.get()

    ended = asyncio.Event()
    task = asyncio.create_task(later())
    await go_on.wait()
    arrival.end(Noted("POST", "/v1/chat/completions"), is_told=False)
    ended.set()
    assert not await task


def _exchange() -> Exchange:
    async def nothing(*_: object) -> dict[str, object]:
        return {}

    return Exchange({"method": "POST", "path": "/", "headers": []}, nothing, nothing)  # type: ignore[arg-type]


async def test_a_client_that_goes_away_ends_its_spans(seen: Seen) -> None:
    server = PlayedServer()
    async with server.served() as url, gateway(options(f"{url}/v1#slow")) as served_:
        asking = asyncio.create_task(served_.post("/v1/chat/completions", {**ASKED, "stream": True}))
        await server.until_asked()
        asking.cancel()
        await server.was_left.wait()
    assert seen.attributes("chat m")["error.type"] == "cancelled"
    assert "http.response.status_code" not in seen.attributes("POST /v1/chat/completions")


@pytest.mark.parametrize("path", ["/health", "/metrics", "/nowhere"])
async def test_what_asks_no_model_leaves_no_trace(path: str, seen: Seen) -> None:
    async with gateway(Options(otel=Otel())) as served_:
        await served_.get(path, traceparent=PARENT)
    assert not seen.spans.get_finished_spans()


@pytest.mark.parametrize("parent", ["", "00-x", "x" * 100_000, f"00-{'0' * 32}-b7ad6b7169203331-01"])
async def test_a_parent_that_is_none_is_passed_over(parent: str, tmp_path: Path, seen: Seen) -> None:
    said: list[Said] = [AssistantDelta("Hello"), Done("stop")]
    async with gateway(options(recording(tmp_path / "r", said))) as served_:
        answer = await served_.post("/v1/chat/completions", ASKED, traceparent=parent[:8000])
    assert answer.status == 200
    assert seen.span("POST /v1/chat/completions").parent is None


async def test_vectors_are_an_operation_too(seen: Seen) -> None:
    async with PlayedServer().served() as url, gateway(options(f"{url}/v1#slow")) as served_:
        answer = await served_.post("/v1/embeddings", {"model": "m", "input": ["a", "b"]})
    assert answer.status == 200
    assert seen.attributes("embeddings m")["gen_ai.operation.name"] == "embeddings"


async def test_the_standard_variables_say_where_to_and_as_whom() -> None:
    collector = Collector()
    async with collector.served() as url:
        words = ("--model", "tiny", "--otel")
        more = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_SERVICE_NAME": "gate"}
        await asyncio.to_thread(_asked_of_a_process, words, more)
    names = {span.name for span in collector.spans}
    assert names == {"GET /v1/models"}
    assert collector.services == {"gate"}


def _asked_of_a_process(words: Iterable[str], more: Mapping[str, str]) -> None:
    from urllib.request import urlopen

    with served(*words, **more) as running, urlopen(f"{running.url}/v1/models") as answer:
        assert answer.status == 200


async def test_what_the_exporter_sends_can_be_read(tmp_path: Path) -> None:
    collector = Collector()
    said: list[Said] = [AssistantDelta("Hello"), Usage(12, 5), Done("stop")]
    async with collector.served() as url:
        opts = Options(aliases={"m": recording(tmp_path / "r", said)}, otel=Otel(url=url))
        async with gateway(opts) as served_:
            await served_.post("/v1/chat/completions", {**ASKED, "stream": True}, traceparent=PARENT)
    chat = next(span for span in collector.spans if span.name == "chat m")
    arrival = next(span for span in collector.spans if span.name == "POST /v1/chat/completions")
    assert (chat.trace, chat.parent) == (TRACE, arrival.id)
    assert arrival.parent == "b7ad6b7169203331"
    assert chat.attributes["gen_ai.usage.input_tokens"] == 12
    assert chat.attributes["gen_ai.response.finish_reasons"] == ["stop"]
    assert collector.services == {"callgate"}
    usage = {point.attributes["gen_ai.token.type"]: point for point in collector.points["gen_ai.client.token.usage"]}
    assert (usage["input"].sum, usage["output"].times, usage["input"].bounds[:2]) == (12, 1, (1, 4))


async def test_a_collector_that_is_down_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgate.gateway.telemetry.tracing.CLOSE_SECONDS", 0.2)
    said: list[Said] = [AssistantDelta("Hello"), Done("stop")]
    opts = Options(aliases={"m": recording(tmp_path / "r", said)}, otel=Otel(url="http://127.0.0.1:1"))
    async with gateway(opts) as served_:
        answer = await served_.post("/v1/chat/completions", ASKED)
    assert answer.status == 200


def test_without_it_nothing_of_it_is_loaded() -> None:
    code = (
        "import sys, callgate.cli.serve, callgate.gateway.app, callgate.gateway.serving.running;"
        "print([name for name in sys.modules if name.startswith('opentelemetry') or 'telemetry' in name])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
