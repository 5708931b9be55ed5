"""Chunks through the gate in native mode, while it looks out for calls, against what `openai` takes to read them."""

from __future__ import annotations

from bench.harness import Bench, Row

CHUNKS = 200_000
TIMES_FASTER = 5.0


def run(bench: Bench) -> list[Row]:
    ours = bench.script("bench/sides/gate_callgate.py", str(CHUNKS))
    peer = bench.script("bench/sides/gate_openai.py", str(CHUNKS // 10), env="bench-openai")
    return bench.compare(ours, peer, repeats=5, at_least=TIMES_FASTER)
