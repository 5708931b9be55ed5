"""How much memory a call takes at its peak, over what its process had before."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bench.measure import peak_memory

_MINE = Path("/proc/self")
_RESET_PEAK = "5"


def peak_mb_of(call: Callable[[], object]) -> float:
    """In megabytes. Linux can forget earlier peaks, of imports and of the parent; elsewhere they may hide it."""
    if not (_MINE / "clear_refs").exists():
        before = peak_memory()
        call()
        return (peak_memory() - before) / 1e6
    with suppress(AttributeError):
        # What imports left free in the heap would serve the call, and not be counted.
        ctypes.CDLL(None).malloc_trim(0)
    (_MINE / "clear_refs").write_text(_RESET_PEAK, encoding="ascii")
    before = _kilobytes("VmRSS:")
    call()
    return (_kilobytes("VmHWM:") - before) * 1024 / 1e6


def _kilobytes(name: str) -> int:
    lines = (_MINE / "status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
