"""What a streamed chunk costs its reader, against the `ollama` and `openai` packages on the same replayed streams.

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
_PROMISED = ("chunk of a burst", "over a bare socket")


def run(bench: Bench) -> list[Row]:
    return [row for protocol in ("ollama", "openai") for row in _compare(bench, protocol)]


def _compare(bench: Bench, protocol: str) -> list[Row]:
    command = [sys.executable, str(ROOT / f"bench/sides/{protocol}_server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            args = (url, str(CHUNKS), str(PACED_CHUNKS), str(LONG_CHUNKS))
            ours = bench.script(f"bench/sides/{protocol}_callgate.py", *args)
            peer = bench.script(f"bench/sides/{protocol}_package.py", *args, env=f"bench-{protocol}")
            rows = bench.compare(ours, peer, repeats=5)
        finally:
            server.terminate()
    # Memory has no promise against the peer: our side fails by itself if it isn't level.
    return [dataclasses.replace(row, at_least=TIMES_CHEAPER if row.name.endswith(_PROMISED) else None) for row in rows]
