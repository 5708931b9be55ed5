"""How long `callgate --version` takes, against Python importing argparse and json."""

from __future__ import annotations

import platform
from pathlib import Path

from bench.harness import Bench, Row

AT_MOST_TIMES_BARE_PYTHON = 1.5
REPEATS = 60  # a start takes some 20 ms and the noise is of that order


def run(bench: Bench) -> list[Row]:
    python = bench.python()
    name = "startup of --version"
    ours = bench.command(name, str(Path(python).parent / "callgate"), "--version")
    peer = bench.command(
        name, python, "-c", "import argparse, json", peer_version=f"python {platform.python_version()}"
    )
    return bench.compare(ours, peer, repeats=REPEATS, at_least=1 / AT_MOST_TIMES_BARE_PYTHON)
