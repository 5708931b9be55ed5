"""Counts what happens, and tells it in Prometheus' words. What several workers have counted can be added up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_SERIES = 10_000
"""Of one name. What comes after is counted together, under empty labels."""

Labels = tuple[str, ...]


class Series(msgspec.Struct, frozen=True, array_like=True):
    """What one worker counted under some labels: a sum, and for a histogram how many were how long."""

    labels: Labels
    value: float
    counts: tuple[int, ...] = ()


class Counter:
    kind: Literal["counter", "gauge"] = "counter"

    def __init__(self, name: str, help_: str, labels: Labels) -> None:
        self.name = name
        self._help, self._labels = help_, labels
        self._values: dict[Labels, float] = {}

    def add(self, *labels: str, by: float = 1) -> None:
        values = self._values
        known = labels if labels in values else _bounded(labels, values)
        values[known] = values.get(known, 0) + by

    def series(self) -> list[Series]:
        return [Series(tuple(map(_text, labels)), value) for labels, value in self._values.items()]

    def take(self, series: Series) -> None:
        """What another worker counted."""
        self.add(*series.labels, by=series.value)

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self._help}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value in self._values.items():
            yield f"{self.name}{_written(self._labels, labels)} {_number(value)}"


class Repairs(Counter):
    """Each rule by itself, also where several were needed for one thing: `malformed-json: trailing-comma, …`."""

    def add(self, *labels: str, by: float = 1) -> None:
        model, said = labels
        family, colon, rules = said.partition(": ")
        for rule in rules.split(", ") if colon else ():
            super().add(model, f"{family}: {rule}", by=by)
        if not colon:
            super().add(model, said, by=by)


class Gauge(Counter):
    """What is so now."""

    kind = "gauge"

    def set(self, *labels: str, to: float) -> None:
        self._values[_bounded(labels, self._values)] = float(to)

    def clear(self) -> None:
        self._values.clear()


class Agreement(Gauge):
    """1 where all workers say so."""

    def take(self, series: Series) -> None:
        known = _bounded(series.labels, self._values)
        self._values[known] = min(self._values.get(known, 1), series.value)


class Histogram:
    """Of seconds."""

    def __init__(self, name: str, help_: str, labels: Labels) -> None:
        self.name = name
        self._help, self._labels = help_, labels
        self._values: dict[Labels, tuple[list[int], float]] = {}

    def observe(self, seconds: float, *labels: str) -> None:
        values = self._values
        known = labels if labels in values else _bounded(labels, values)
        counts, total = values.get(known) or ([0] * (len(SECONDS) + 1), 0.0)
        counts[bisect_left(SECONDS, seconds)] += 1
        values[known] = counts, total + seconds

    def series(self) -> list[Series]:
        every = self._values.items()
        return [Series(tuple(map(_text, labels)), total, tuple(counts)) for labels, (counts, total) in every]

    def take(self, series: Series) -> None:
        known = _bounded(series.labels, self._values)
        counts, total = self._values.get(known) or ([0] * (len(SECONDS) + 1), 0.0)
        summed = [one + other for one, other in zip(counts, series.counts, strict=True)]
        self._values[known] = summed, total + series.value

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self._help}"
        yield f"# TYPE {self.name} histogram"
        names = (*self._labels, "le")
        for labels, (counts, total) in self._values.items():
            below = 0
            for limit, count in zip((*(f"{limit:g}" for limit in SECONDS), "+Inf"), counts, strict=True):
                below += count
                yield f"{self.name}_bucket{_written(names, (*labels, limit))} {below}"
            yield f"{self.name}_sum{_written(self._labels, labels)} {total:.6f}"
            yield f"{self.name}_count{_written(self._labels, labels)} {below}"


class Metrics:
    """What one worker has seen since it started."""

    def __init__(self) -> None:
        endpoint = ("endpoint", "model")
        self.requests = Counter("callgate_requests_total", "Requests answered.", ("route", "model", "status"))
        self.broken = Counter(
            "callgate_broken_answers_total", "Answers that had begun, and then failed.", ("route", "model", "error")
        )
        self.under_way = Gauge("callgate_requests_in_flight", "Requests being answered.", ())
        self.seconds = Histogram("callgate_request_seconds", "Time until an answer was whole.", ("route",))
        self.first_token = Histogram("callgate_first_token_seconds", "Time until a model said something.", ("model",))
        self.tokens = Counter("callgate_tokens_total", "Tokens, as servers count them.", ("model", "kind"))
        self.calls = Counter("callgate_tool_calls_total", "Tool calls.", ("model", "mode"))
        self.repairs = Repairs("callgate_repairs_total", "What was mended in calls.", ("model", "rule"))
        self.notices = Counter("callgate_notices_total", "What was degraded.", ("model", "kind"))
        self.trimmed = Counter("callgate_tools_trimmed_total", "Tools that models weren't offered.", ("model",))
        self.failures = Counter("callgate_endpoint_failures_total", "Times that one was taken out.", endpoint)
        self.failovers = Counter("callgate_failovers_total", "Requests that went on elsewhere.", ("model", "to"))
        self.endpoint_up = Agreement("callgate_endpoint_up", "1: it is asked; 0: it failed, and has a pause.", endpoint)
        self.endpoint_busy = Gauge("callgate_endpoint_in_flight", "Requests that it is answering.", endpoint)
        self.tasks = Gauge("callgate_tasks", "What is being done at the same time, by all who do something.", ())
        self.redis_up = Agreement("callgate_redis_up", "1: it answers; 0: each server goes by itself.", ())
        self.redis_failures = Counter("callgate_redis_failures_total", "Times that Redis failed us.", ("error",))
        self._every = {each.name: each for each in vars(self).values() if isinstance(each, Counter | Histogram)}

    def written(self) -> bytes:
        every = self._every.values()
        return ("\n".join(line for each in every for line in each.lines()) + "\n").encode("utf-8", "replace")

    def snapshot(self) -> msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode({name: each.series() for name, each in self._every.items()}))

    def add(self, snapshot: msgspec.Raw, *, is_over: bool = False) -> None:
        """What another worker has seen; of one that `is_over` what is so now isn't so any more."""
        for name, every in msgspec.json.decode(snapshot, type=dict[str, list[Series]]).items():
            into = self._every[name]
            if not (is_over and isinstance(into, Gauge)):
                for series in every:
                    into.take(series)


def _bounded(labels: Labels, known: Mapping[Labels, object]) -> Labels:
    return labels if labels in known or len(known) < MOST_SERIES else ("",) * len(labels)


def _written(names: Labels, values: Labels) -> str:
    if not names:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True)) + "}"


def _number(value: float) -> str:
    """Tokens are soon more than six digits tell."""
    return str(int(value)) if float(value).is_integer() else f"{value:.6f}"


def _text(label: str) -> str:
    """A file's name may have bytes in it that are no text."""
    return label.encode("utf-8", "replace").decode()


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
