"""A hundred Python functions as OpenAI tools: the first time, and at each request after that."""

from __future__ import annotations

from bench.harness import Bench, Row

FASTER_AT_LEAST = 5


def run(bench: Bench) -> list[Row]:
    ours = bench.script("bench/sides/tool_conversion_callgate.py")
    peer = bench.script("bench/sides/tool_conversion_langchain.py", env="bench-langchain")
    return bench.compare(ours, peer, repeats=5, at_least=FASTER_AT_LEAST)
