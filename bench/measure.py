"""What a side's script needs to measure itself: standard library only, so that it works in every environment."""

from __future__ import annotations

import gc
import json
import resource
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

__all__ = ["cpu_seconds", "emit", "peak_memory", "peak_memory_of", "timed"]


def timed(call: Callable[[], object], rounds: int = 1, warm_up: int = 0) -> float:
    """Seconds for one `call`: the median of `rounds` timed ones, after `warm_up` that do not count."""
    for _ in range(warm_up):
        call()
    taken = []
    for _ in range(max(1, rounds)):
        gc.collect()
        start = perf_counter()
        call()
        taken.append(perf_counter() - start)
    return statistics.median(taken)


def peak_memory() -> int:
    """The most bytes that this process has had resident so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, Linux kibibytes


def emit(name: str, value: float, unit: str, version: str = "") -> None:
    """Print one measurement for the harness to read."""
    print(json.dumps({"name": name, "value": value, "unit": unit, "version": version}), flush=True)


def cpu_seconds(pid: int) -> float:
    """The processor time that another process has taken so far, with all its threads. Linux only."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text("utf-8").split()[0]) for thread in threads) / 1e9


def peak_memory_of(pid: int) -> int:
    """The most bytes that another process has had resident so far. Linux only."""
    _, _, told = Path(f"/proc/{pid}/status").read_text("utf-8").partition("VmHWM:")
    return int(told.split()[0]) * 1024
