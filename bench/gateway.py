"""What the gateway costs on one core: against the least that its stack can do, and against LiteLLM's proxy.

All three pass on the answers of the same played server, for the same requests with a tool, the server on a core of its
own. Rates are by the second of its processor time: a busy machine doesn't blur it, and on an idle one it is the second
of the clock. Our side decides, plans, looks for calls in the text, and mends; the others pass on.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness import ROOT, Bench, Measurement, Row, Side
from bench.measure import cpu_seconds, peak_memory_of
from bench.servers import SIDES, cores, load, started

PACED, BURST, REQUESTS, MEMORY = (
    "gateway, a chunk that comes by itself",
    "gateway, chunks of a burst",
    "gateway, requests",
    "gateway, memory",
)
MOST_TIMES_AS_DEAR = 1.3
MOST_CHUNKS_S = 50_000
TIMES_AS_FAST = 75
START_SECONDS = 120


@dataclasses.dataclass(frozen=True)
class Amount:
    """How much is asked: what takes one a second takes another a minute."""

    requests: int
    """From each of 16 clients at once."""
    chunks: int
    """Of a burst, to each of 4."""
    paced: int


MUCH = Amount(requests=200, chunks=20_000, paced=1_000)
LITTLE = Amount(requests=15, chunks=500, paced=150)


def run(bench: Bench) -> list[Row]:
    ours = _side(bench, "", _callgate, MUCH)
    rows = bench.compare(ours, _side(bench, "bench-passthrough", _pass_through, MUCH), repeats=5)
    rows += bench.compare(ours, _side(bench, "bench-litellm", _litellm, LITTLE), repeats=2)
    burst = next(row for row in rows if row.name == BURST)
    rows.append(Row(BURST, burst.ours, MOST_CHUNKS_S, "what is promised", burst.unit, at_least=1.0))
    return [_promised(row) for row in rows]


def _promised(row: Row) -> Row:
    if row.name == PACED and row.peer_version.startswith("uvicorn"):
        return dataclasses.replace(row, at_least=1 / MOST_TIMES_AS_DEAR)
    if row.name == REQUESTS and row.peer_version.startswith("LiteLLM"):
        return dataclasses.replace(row, at_least=TIMES_AS_FAST)
    return row


# --- the servers: how each is started, and what its environment has besides ---

Server = Callable[[str, str, Path], tuple[list[str], dict[str, str]]]
"""From its interpreter, the server behind it, and a folder."""


def _callgate(python: str, upstream: str, scratch: Path) -> tuple[list[str], dict[str, str]]:
    command = [python, "-m", "callgate", "serve", "--port", "0", "--json", "--upstream", upstream]
    return command, {"CALLGATE_HOME": str(scratch / "home"), "OLLAMA_HOST": "http://127.0.0.1:1"}


def _pass_through(python: str, upstream: str, _: Path) -> tuple[list[str], dict[str, str]]:
    return [python, str(SIDES / "gateway_passthrough.py"), upstream], {}


def _litellm(python: str, upstream: str, scratch: Path) -> tuple[list[str], dict[str, str]]:
    return [python, str(SIDES / "gateway_litellm.py"), upstream, str(scratch)], {}


# --- one side ---


def _side(bench: Bench, env: str, server: Server, amount: Amount) -> Side:
    python = bench.python(env)

    def measure() -> list[Measurement]:
        with _upstream(bench) as upstream:
            command, more = server(python, upstream, bench.scratch)
            with started(command, {**os.environ, "PYTHONPATH": str(ROOT), **more}, cores()[0]) as (pid, said):
                return list(_measured(bench, pid, said["url"], said.get("version", ""), amount))

    return Side(env or "callgate", measure)


def _measured(bench: Bench, pid: int, url: str, version: str, amount: Amount) -> Iterator[Measurement]:
    load(bench, url, "whole", 2, 20)
    load(bench, url, "burst", 2, 2, 200)
    before = cpu_seconds(pid)
    seconds = load(bench, url, "whole", 16, amount.requests)
    asked = 16 * amount.requests
    yield Measurement(REQUESTS, asked / (cpu_seconds(pid) - before), "requests/s", version)
    yield Measurement(f"{REQUESTS}, by the clock", asked / seconds, "requests/s", version)
    before = cpu_seconds(pid)
    load(bench, url, "burst", 4, 1, amount.chunks)
    yield Measurement(BURST, 4 * amount.chunks / (cpu_seconds(pid) - before), "chunks/s", version)
    before = cpu_seconds(pid)
    load(bench, url, "paced", 4, 1, amount.paced)
    yield Measurement(PACED, (cpu_seconds(pid) - before) / (4 * amount.paced) * 1e6, "us", version)
    yield Measurement(MEMORY, peak_memory_of(pid) / 1e6, "MB", version)


@contextmanager
def _upstream(bench: Bench) -> Iterator[str]:
    with started([bench.python(), str(SIDES / "gateway_upstream.py")], dict(os.environ), cores()[1]) as (_, said):
        yield said["url"]
