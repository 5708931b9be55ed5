"""What a chunk streamed by an OpenAI-compatible server costs its reader, against the `openai` package.

On the same replayed stream, in processor time: what the server takes is nobody's overhead. Nor is it to be woken for a
chunk that comes alone, so what a bare socket takes is subtracted from the paced stream.
"""

from __future__ import annotations

import subprocess
import sys

from bench.harness import ROOT, Bench, Row

CHUNKS = 20_000
PACED_CHUNKS = 4_000
LONG_CHUNKS = 100_000
TIMES_CHEAPER = 2.0


def run(bench: Bench) -> list[Row]:
    command = [sys.executable, str(ROOT / "bench/sides/openai_server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            args = (url, str(CHUNKS), str(PACED_CHUNKS), str(LONG_CHUNKS))
            ours = bench.script("bench/sides/openai_callgate.py", *args)
            peer = bench.script("bench/sides/openai_package.py", *args, env="bench-openai")
            rows = bench.compare(ours, peer, repeats=5)
        finally:
            server.terminate()
    # Memory has no promise against the peer: our side fails by itself if it isn't level.
    return [
        Row(row.name, row.ours, row.peer, row.peer_version, row.unit, TIMES_CHEAPER if row.unit == "us" else None)
        for row in rows
    ]
