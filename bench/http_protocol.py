"""What it takes to read a request and to send an answer: our own protocol under uvicorn, against uvicorn's own.

Both serve the same small application, which reads the body and answers with some JSON.
"""

from __future__ import annotations

import os

from bench.harness import ROOT, Bench, Measurement, Row, Side
from bench.measure import cpu_seconds
from bench.servers import SIDES, cores, load, started

NAME = "http protocol, requests"
CLIENTS, TIMES = 16, 400


def run(bench: Bench) -> list[Row]:
    return bench.compare(_side(bench, "callgate"), _side(bench, "uvicorn"), repeats=5, at_least=1.0)


def _side(bench: Bench, whose: str) -> Side:
    def measure() -> list[Measurement]:
        command = [bench.python(), str(SIDES / "http_protocol.py"), whose]
        with started(command, {**os.environ, "PYTHONPATH": str(ROOT)}, cores()[0]) as (pid, said):
            load(bench, said["url"], "whole", 2, 20)
            before = cpu_seconds(pid)
            load(bench, said["url"], "whole", CLIENTS, TIMES)
            rate = CLIENTS * TIMES / (cpu_seconds(pid) - before)
            return [Measurement(NAME, rate, "requests/s", said["version"])]

    return Side(whose, measure)
