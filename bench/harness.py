"""Runs the sides of a benchmark in turns and makes rows of their medians.

A benchmark is `bench/NAME.py` with `run(bench) -> list[Row]`; bench/README.md has the contract.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

__all__ = ["ROOT", "Bench", "BenchError", "Measurement", "Row", "Side"]

ROOT = Path(__file__).resolve().parent.parent
SIDE_TIMEOUT_S = 300.0  # a side that hangs must not hold up the rest
QUICK_REPEATS = 3


class BenchError(Exception):
    """A side could not run, or the two sides did not measure the same thing."""


@dataclass(frozen=True)
class Measurement:
    name: str
    value: float
    unit: str
    version: str = ""


@dataclass(frozen=True)
class Side:
    """One contender: calling `measure` runs it once, in a process of its own."""

    label: str
    measure: Callable[[], list[Measurement]]


@dataclass(frozen=True)
class Row:
    """Us and a peer, measured in one run; `ratio` says how many times better we are."""

    name: str
    ours: float
    peer: float
    peer_version: str
    unit: str
    at_least: float | None = None

    @property
    def ratio(self) -> float:
        more_is_better = self.unit.endswith("/s")
        over, under = (self.ours, self.peer) if more_is_better else (self.peer, self.ours)
        return over / under if under else float("inf")

    @property
    def kept(self) -> bool:
        return self.at_least is None or self.ratio >= self.at_least

    def as_json(self) -> str:
        return json.dumps(
            {
                "name": self.name,
                "ours": _rounded(self.ours),
                "peer": _rounded(self.peer),
                "peer_version": self.peer_version,
                "ratio": _rounded(self.ratio),
                "unit": self.unit,
            }
        )


@dataclass
class Bench:
    """What a benchmark is handed: a scratch folder, ways to make sides, and `compare`."""

    scratch: Path
    quick: bool = False
    _pythons: dict[str, str] = field(default_factory=dict)

    def python(self, env: str = "") -> str:
        """The interpreter of an environment, made from requirements/ENV.txt when first asked for; by default ours."""
        if not env:
            return sys.executable
        if env not in self._pythons:
            self._pythons[env] = _make_environment(env)
        return self._pythons[env]

    def script(self, path: str, *args: str, env: str = "") -> Side:
        """A script that measures itself and prints what it found through `bench.measure.emit`."""
        argv = [self.python(env), str(ROOT / path), *args]
        return Side(env or "callgate", lambda: _measurements(_run(argv)))

    def command(self, name: str, *argv: str, peer_version: str = "") -> Side:
        """The wall time of a whole process, from start to end, in ms."""

        def measure() -> list[Measurement]:
            start = perf_counter()
            _run(list(argv))
            return [Measurement(name, (perf_counter() - start) * 1e3, "ms", peer_version)]

        return Side(peer_version or "callgate", measure)

    def compare(self, ours: Side, *peers: Side, repeats: int = 5, at_least: float | None = None) -> list[Row]:
        """Run the sides in turns and pair the medians by name: a row for each name that we and a peer both report."""
        sides = (ours, *peers)
        found: list[dict[str, list[Measurement]]] = [{} for _ in sides]
        for _ in range(min(repeats, QUICK_REPEATS) if self.quick else repeats):
            for side, seen in zip(sides, found, strict=True):
                for measurement in side.measure():
                    seen.setdefault(measurement.name, []).append(measurement)
        rows = [
            _row(name, measured, seen[name], at_least)
            for name, measured in found[0].items()
            for seen in found[1:]
            if name in seen
        ]
        if not rows:
            raise BenchError(f"no measurement has the same name on both sides: {[sorted(seen) for seen in found]}")
        return rows


def _row(name: str, ours: list[Measurement], peer: list[Measurement], at_least: float | None) -> Row:
    if ours[0].unit != peer[0].unit:
        raise BenchError(
            f"{name!r} is measured in {ours[0].unit!r} by us and in {peer[0].unit!r} by {peer[0].version!r}"
        )
    return Row(name, _median(ours), _median(peer), peer[0].version, ours[0].unit, at_least)


def _median(measurements: list[Measurement]) -> float:
    return statistics.median(m.value for m in measurements)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _run(argv: list[str]) -> str:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            argv, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=SIDE_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise BenchError(f"{' '.join(argv[:2])} did not end within {SIDE_TIMEOUT_S:.0f} s") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()[-5:]
        raise BenchError(f"{' '.join(argv[:2])} ended with status {done.returncode}: " + "\n  ".join(said))
    return done.stdout


def _measurements(text: str) -> list[Measurement]:
    return [Measurement(**json.loads(line)) for line in text.splitlines() if line.startswith("{")]


def _make_environment(env: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "dev"), "env", env], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise BenchError(f"environment {env!r} could not be made; see above")
    return done.stdout.strip().splitlines()[-1]
