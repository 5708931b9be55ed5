"""A small OpenTelemetry collector: takes traces and metrics by OTLP over HTTP, and shows them as plain records."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.wire.server import serving


class Span(NamedTuple):
    name: str
    kind: int
    attributes: Mapping[str, Any]
    trace: str
    id: str
    parent: str


class Point(NamedTuple):
    attributes: Mapping[str, Any]
    times: int
    sum: float
    bounds: tuple[float, ...]


class Collector:
    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.points: dict[str, list[Point]] = {}
        self.services: set[str] = set()
        self.headers: list[Mapping[str, str]] = []

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        async with serving(("POST", "/v1/traces", self._traces), ("POST", "/v1/metrics", self._metrics)) as url:
            yield url

    async def _traces(self, request: web.Request) -> web.StreamResponse:
        sent = ExportTraceServiceRequest.FromString(await _body(request))
        self.headers.append(request.headers)
        for resource in sent.resource_spans:
            self.services.add(str(_plain(resource.resource.attributes)["service.name"]))
            for scope in resource.scope_spans:
                for span in scope.spans:
                    ids = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
                    self.spans.append(Span(span.name, span.kind, _plain(span.attributes), *ids))
        return web.Response(content_type="application/x-protobuf")

    async def _metrics(self, request: web.Request) -> web.StreamResponse:
        sent = ExportMetricsServiceRequest.FromString(await _body(request))
        for resource in sent.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    self.points.setdefault(metric.name, []).extend(
                        Point(_plain(point.attributes), point.count, point.sum, tuple(point.explicit_bounds))
                        for point in metric.histogram.data_points
                    )
        return web.Response(content_type="application/x-protobuf")


async def _body(request: web.Request) -> bytes:
    return await request.read()


def _plain(attributes: Iterable[Any]) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)
