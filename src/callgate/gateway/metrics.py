"""Counts what happens, and tells it in Prometheus' words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_SERIES = 10_000
"""Of one name. What comes after is counted together, under empty labels."""

Labels = tuple[str, ...]


class Counter:
    def __init__(self, name: str, help_: str, labels: Labels, *, kind: str = "counter") -> None:
        self._name, self._help, self._labels, self._kind = name, help_, labels, kind
        self._values: dict[Labels, float] = {}

    def add(self, *labels: str, by: float = 1) -> None:
        known = _bounded(labels, self._values)
        self._values[known] = self._values.get(known, 0) + by

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self._name} {self._help}"
        yield f"# TYPE {self._name} {self._kind}"
        for labels, value in self._values.items():
            yield f"{self._name}{_written(self._labels, labels)} {value:g}"


class Histogram:
    """Of seconds."""

    def __init__(self, name: str, help_: str, labels: Labels) -> None:
        self._name, self._help, self._labels = name, help_, labels
        self._values: dict[Labels, tuple[list[int], float]] = {}

    def observe(self, seconds: float, *labels: str) -> None:
        known = _bounded(labels, self._values)
        counts, total = self._values.get(known) or ([0] * (len(SECONDS) + 1), 0.0)
        counts[bisect_left(SECONDS, seconds)] += 1
        self._values[known] = counts, total + seconds

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self._name} {self._help}"
        yield f"# TYPE {self._name} histogram"
        names = (*self._labels, "le")
        for labels, (counts, total) in self._values.items():
            below = 0
            for limit, count in zip((*(f"{limit:g}" for limit in SECONDS), "+Inf"), counts, strict=True):
                below += count
                yield f"{self._name}_bucket{_written(names, (*labels, limit))} {below}"
            yield f"{self._name}_sum{_written(self._labels, labels)} {total:.6f}"
            yield f"{self._name}_count{_written(self._labels, labels)} {below}"


class Metrics:
    """What one worker has seen since it started."""

    def __init__(self) -> None:
        self.requests = Counter("callgate_requests_total", "Requests answered.", ("route", "model", "status"))
        self.under_way = Counter("callgate_requests_in_flight", "Requests being answered.", (), kind="gauge")
        self.seconds = Histogram("callgate_request_seconds", "Time until an answer was whole.", ("route",))
        self.first_token = Histogram("callgate_first_token_seconds", "Time until a model said something.", ("model",))
        self.tokens = Counter("callgate_tokens_total", "Tokens, as servers count them.", ("model", "kind"))
        self.calls = Counter("callgate_tool_calls_total", "Tool calls.", ("model", "mode"))
        self.repairs = Counter("callgate_repairs_total", "What was mended in calls.", ("model", "rule"))
        self.notices = Counter("callgate_notices_total", "What was degraded.", ("model", "kind"))

    def written(self) -> bytes:
        every = (
            self.requests,
            self.under_way,
            self.seconds,
            self.first_token,
            self.tokens,
            self.calls,
            self.repairs,
            self.notices,
        )
        return ("\n".join(line for each in every for line in each.lines()) + "\n").encode("utf-8", "replace")


def _bounded(labels: Labels, known: Mapping[Labels, object]) -> Labels:
    return labels if labels in known or len(known) < MOST_SERIES else ("",) * len(labels)


def _written(names: Labels, values: Labels) -> str:
    if not names:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True)) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
