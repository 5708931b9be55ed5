"""How long `callgate models` takes where no server runs, against Python importing aiohttp."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from bench.harness import Bench, Row

AT_MOST_MS_OVER = 300
REPEATS = 15


def run(bench: Bench) -> list[Row]:
    python = bench.python()
    name = "models, all servers absent"
    empty = ["env", f"HOME={bench.scratch}", f"CALLGATE_HOME={bench.scratch}", "OLLAMA_HOST=127.0.0.1:1"]
    ours = bench.command(name, *empty, str(Path(python).parent / "callgate"), "models", "--json")
    peer = bench.command(name, python, "-c", "import asyncio, aiohttp", peer_version=f"aiohttp {version('aiohttp')}")
    rows = bench.compare(ours, peer, repeats=REPEATS)
    # The promise is a difference, not a ratio.
    return [Row(r.name, r.ours, r.peer, r.peer_version, r.unit, r.peer / (r.peer + AT_MOST_MS_OVER)) for r in rows]
