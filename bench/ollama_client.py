"""What a chunk streamed by Ollama costs its reader, against the `ollama` package on the same replayed stream.

Processor time, not wall time: the server runs beside both, and what it takes is nobody's overhead. Of chunks that come
one by one, most is the price of being woken; a bare socket pays it too, so there is a row without it and one with it.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys

from bench.harness import ROOT, Bench, Row

CHUNKS = 20_000
PACED_CHUNKS = 4_000
LONG_CHUNKS = 100_000
TIMES_CHEAPER = 2.0
PROMISED = ("ollama stream, chunk of a burst", "ollama stream, chunk by chunk, over a bare socket")


def run(bench: Bench) -> list[Row]:
    server = subprocess.Popen(
        [sys.executable, str(ROOT / "bench/sides/ollama_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        args = (url, str(CHUNKS), str(PACED_CHUNKS), str(LONG_CHUNKS))
        ours = bench.script("bench/sides/ollama_callgate.py", *args)
        peer = bench.script("bench/sides/ollama_package.py", *args, env="bench-ollama")
        rows = bench.compare(ours, peer, repeats=5)
        server.terminate()
    # Memory has no promise against the peer: our side fails by itself if it isn't level.
    promises = dict.fromkeys(PROMISED, TIMES_CHEAPER)
    return [dataclasses.replace(row, at_least=promises.get(row.name)) for row in rows]
