"""Sends traces and metrics to an OpenTelemetry collector, by OTLP over HTTP, as its standard variables say."""

from __future__ import annotations

import logging
import os
import time
import uuid
from typing import TYPE_CHECKING

from callgate import __version__
from callgate.gateway.options import Otel
from callgate.settings import Settings, without_password
from callgate.vocabulary import UsageError
from callgate.wire import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.resources import Resource

    from callgate.gateway.telemetry.tracing import Telemetry

log = logging.getLogger(__name__)

QUIET_SECONDS = 60.0
"""Between two complaints that it can't be sent."""
CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WITH_CONTENT = frozenset({"true", "1", "span_only", "span_and_event"})
_UNNAMED = "unknown_service"


def exporting(otel: Otel, settings: Settings) -> Telemetry:
    """Raises: UsageError, if it isn't installed, or can't be sent there."""
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        hint = "pip install 'callgate[otel]'"
        raise UsageError(
            f"--otel needs OpenTelemetry, and {error.name or 'a part of it'} is missing", hint=hint
        ) from None
    from callgate.gateway.telemetry.tracing import CLOSE_SECONDS, Telemetry

    base = _base(otel.url)
    resource = _resource()
    _tell_of_trouble()
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    readers: list[PeriodicExportingMetricReader] = []
    give_up: list[Callable[[], object]] = []
    if _is_wanted("OTEL_TRACES_EXPORTER"):
        spans = OTLPSpanExporter(endpoint=base and f"{base}/v1/traces")
        tracers.add_span_processor(BatchSpanProcessor(spans))
        give_up.append(spans.shutdown)
    if _is_wanted("OTEL_METRICS_EXPORTER"):
        metrics = OTLPMetricExporter(endpoint=base and f"{base}/v1/metrics")
        readers.append(PeriodicExportingMetricReader(metrics))
        give_up.append(metrics.shutdown)
    meters = MeterProvider(readers, resource=resource, shutdown_on_exit=False)

    def close() -> None:
        tracers.shutdown()
        meters.shutdown(timeout_millis=CLOSE_SECONDS * 1000)

    content = otel.content or wants_content()
    return Telemetry(tracers, meters, settings, content=content, on_close=close, give_up=give_up)


def wants_content() -> bool:
    """Whether the environment says that what is said is to be recorded."""
    return os.environ.get(CONTENT_VARIABLE, "").strip().lower() in _WITH_CONTENT


def _is_wanted(variable: str) -> bool:
    """Of traces or metrics: `none` is the standard word for not."""
    return os.environ.get(variable, "").strip().lower() != "none"


def _base(url: str) -> str | None:
    """The collector's address; none, where its standard variables say it, or else it is this machine's port 4318."""
    if not url:
        return None
    if not url.lower().startswith(("http://", "https://")):
        raise UsageError(f"{shown(url)!r} is no collector's address", hint="--otel http://HOST:4318")
    return url.rstrip("/").removesuffix("/v1/traces")


def _resource() -> Resource:
    """Who sends it: as the standard variables say, and else ourselves. Each worker is another instance."""
    from opentelemetry.sdk.resources import Resource

    said = Resource.create()
    own = {"service.name": "callgate", "service.version": __version__, "service.instance.id": str(uuid.uuid4())}
    name = str(said.attributes.get("service.name", _UNNAMED))
    if not name.startswith(_UNNAMED):
        del own["service.name"]
    missing = {key: value for key, value in own.items() if key == "service.name" or key not in said.attributes}
    return said.merge(Resource(missing))


class _Complaints(logging.Handler):
    """What OpenTelemetry says of itself becomes our own warning, now and then: a collector may be down for days."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said_at = -QUIET_SECONDS

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        if now - self._said_at >= QUIET_SECONDS:
            self._said_at = now
            log.warning("OpenTelemetry: %s", without_password(record.getMessage())[:500])


def _tell_of_trouble() -> None:
    logger = logging.getLogger("opentelemetry")
    if not any(isinstance(each, _Complaints) for each in logger.handlers):
        logger.addHandler(_Complaints())
        logger.propagate = False
