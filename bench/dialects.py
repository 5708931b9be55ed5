"""What a streamed chunk costs in the dialects of agents, against chat completions: the same events, written by each."""

from __future__ import annotations

from bench.harness import Bench, Row

ANSWERS = 200
TIMES_DEARER = 1.5
"""At most."""


def run(bench: Bench) -> list[Row]:
    side = "bench/sides/dialect_writers.py"
    ours, peer = (bench.script(side, whose, str(ANSWERS)) for whose in ("agents", "chat"))
    return bench.compare(ours, peer, repeats=5, at_least=1 / TIMES_DEARER)
