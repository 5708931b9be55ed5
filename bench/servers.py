"""Servers that are measured: each on a core of its own, where that can be said, and all else on another."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench.harness import ROOT, Bench, BenchError

SIDES = ROOT / "bench" / "sides"


def load(bench: Bench, url: str, how: str, clients: int, times: int, chunks: int = 0) -> float:
    """How long it took, by the clock."""
    words = [url, how, *map(str, (clients, times, chunks))]
    command = [bench.python(), str(SIDES / "gateway_load.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, preexec_fn=_beside)
    if done.returncode:
        raise BenchError(f"{how} at {url}: {done.stderr.strip()[-500:]}")
    return float(done.stdout)


@contextmanager
def started(command: Sequence[str], environ: dict[str, str], core: int | None) -> Iterator[tuple[int, dict[str, str]]]:
    """On a core, where that can be said; and what it says when it is ready, in one line of JSON."""

    def pinned() -> None:
        _pin(core)

    with subprocess.Popen(
        command,
        env=environ,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=pinned,  # noqa: PLW1509 - there are no threads here
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise BenchError(f"{' '.join(command[:3])} ended before it was ready")
            yield process.pid, json.loads(line)
        finally:
            process.kill()


def cores() -> tuple[int | None, int | None]:
    """The server's own, and one for all else."""
    if not hasattr(os, "sched_getaffinity") or len(cores := sorted(os.sched_getaffinity(0))) < 2:
        return None, None
    return cores[-1], cores[0]


def _pin(core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})


def _beside() -> None:
    _pin(cores()[1])
