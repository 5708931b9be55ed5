"""Looking for calls in a streamed answer: what a chunk of words or JSON costs, and a call against `langchain-core`."""

from __future__ import annotations

from bench.harness import Bench, Row

TIMES_FASTER = 3.0


def run(bench: Bench) -> list[Row]:
    ours = bench.script("bench/sides/recovery_callgate.py")
    floor = bench.script("bench/sides/recovery_floor.py")
    peer = bench.script("bench/sides/recovery_langchain.py", env="bench-langchain")
    return [
        *bench.compare(ours, floor, repeats=5),
        *bench.compare(ours, peer, repeats=5, at_least=TIMES_FASTER),
    ]
