"""Feeds mutated inputs to a target in a child process that may die, and keeps what broke it.

The child writes each input into shared memory before it is fed, so that even a crash of the interpreter or a loop in
native code leaves the input behind. The parent watches, saves, and starts the next child.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import random
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType, ModuleType
from typing import IO

from fuzz.mutate import LONGEST, mutate

__all__ = ["Report", "Target", "fuzz", "replay"]

SLOW_S = 1.0
HANGS_AFTER = 10  # times the slow bound: native code that no signal interrupts
POLL_S = 0.2
HEAD = struct.Struct("<QQ")  # executions so far, length of the present input
MOST_IN_POOL = 512
MOST_CHILDREN = 50  # a target that dies at every turn has said enough
WORST_STATUS = 70  # the child's own exit status when the harness, not the target, broke


class TooSlow(BaseException):
    """Raised inside a target that overran; not an Exception, so that no target swallows it by accident."""


@dataclass(frozen=True)
class Target:
    name: str
    one_input: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    expected: tuple[type[BaseException], ...]
    slow_s: float
    own_mutate: Callable[[bytes, random.Random], bytes] | None

    @staticmethod
    def of(module: ModuleType) -> Target:
        seeds: Iterable[bytes] = module.seeds()
        return Target(
            module.__name__.rpartition(".")[2],
            module.one_input,
            tuple(seeds) or (b"",),
            tuple(getattr(module, "EXPECTED", ())),
            float(getattr(module, "SLOW_S", SLOW_S)),
            getattr(module, "mutate", None),
        )


@dataclass
class Report:
    seed: int
    executions: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Path] = field(default_factory=dict)

    def text(self) -> str:
        rate = self.executions / self.seconds if self.seconds else 0.0
        lines = [f"{self.executions:,} executions in {self.seconds:.1f} s ({rate:,.0f}/s), seed {self.seed}"]
        lines.append(f"{len(self.outcomes)} distinct outcomes:")
        lines += [f"  {count:>12,}  {what}" for what, count in self.outcomes.most_common()]
        lines.append(f"{len(self.findings)} findings" + (":" if self.findings else ""))
        lines += [f"  {what}\n    {path}" for what, path in self.findings.items()]
        return "\n".join(lines)


def fuzz(target: Target, seconds: float, seed: int, folder: Path) -> Report:
    """Mutate and feed for so many seconds; what broke the target is saved in the folder."""
    report = Report(seed)
    start = time.monotonic()
    for child in range(MOST_CHILDREN):
        left = seconds - (time.monotonic() - start)
        if left <= 0:
            break
        if not _one_child(target, left, random.Random(seed + (child << 32)), folder, report):
            break
    report.seconds = time.monotonic() - start
    return report


def replay(target: Target, data: bytes) -> int:
    """Feed one input as it is; an unexpected exception is shown in full."""
    try:
        print(target.one_input(data) or "ok")
    except target.expected as error:
        print(f"{type(error).__name__}: {error}")
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _one_child(target: Target, seconds: float, rng: random.Random, folder: Path, report: Report) -> bool:
    """Run one child to its end. False when it ended in order, True when the next one should go on."""
    shared = mmap.mmap(-1, HEAD.size + LONGEST)
    sys.stdout.flush()
    with TemporaryFile("w+") as notes:  # a pipe would be full after some hundred findings
        pid = os.fork()
        if not pid:
            _child(target, seconds, rng, folder, shared, notes)
        status, hung = _watch(pid, shared, target.slow_s * HANGS_AFTER)
        notes.seek(0)
        told = notes.read()
    executions, length = HEAD.unpack_from(shared)
    report.executions += executions
    if told:
        words = json.loads(told)
        report.outcomes.update(words["outcomes"])
        report.findings.update({what: Path(path) for what, path in words["findings"].items()})
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return False
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == WORST_STATUS:
        raise SystemExit("the fuzz harness itself failed; see above")
    what = "hang in native code" if hung else f"process died (status {os.waitstatus_to_exitcode(status)})"
    report.outcomes[what] += 1
    report.findings[what] = _save(folder, "hang" if hung else "death", shared[HEAD.size : HEAD.size + length])
    return True


def _watch(pid: int, shared: mmap.mmap, patience: float) -> tuple[int, bool]:
    seen, since, hung = -1, time.monotonic(), False
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status, hung
        executions, _ = HEAD.unpack_from(shared)
        now = time.monotonic()
        if executions != seen:
            seen, since = executions, now
        elif now - since > patience:
            hung = True
            os.kill(pid, signal.SIGKILL)
        try:
            time.sleep(POLL_S)
        except KeyboardInterrupt:
            continue  # the child got it too, and reports what it has


def _child(target: Target, seconds: float, rng: random.Random, folder: Path, shared: mmap.mmap, notes: IO[str]) -> None:
    status = WORST_STATUS
    try:
        notes.write(json.dumps(_feed(target, seconds, rng, folder, shared)))
        notes.flush()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def _feed(
    target: Target, seconds: float, rng: random.Random, folder: Path, shared: mmap.mmap
) -> dict[str, dict[str, int] | dict[str, str]]:
    def too_slow(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, too_slow)
    outcomes: Counter[str] = Counter()
    findings: dict[str, str] = {}
    pool = list(target.seeds)
    signatures: set[str] = set()
    executions = 0
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if executions < len(target.seeds):
                data = target.seeds[executions][:LONGEST]
            elif target.own_mutate and rng.random() < 0.5:
                data = target.own_mutate(rng.choice(pool), rng)[:LONGEST]
            else:
                data = mutate(rng.choice(pool), pool, rng)
            shared[HEAD.size : HEAD.size + len(data)] = data
            executions += 1
            HEAD.pack_into(shared, 0, executions, len(data))
            what, kind = _one(target, data)
            outcomes[what] += 1
            if kind and what not in findings:
                findings[what] = str(_save(folder, kind, data))
            # An input that came to a new end is worth mutating further.
            if what not in signatures and len(pool) < MOST_IN_POOL:
                signatures.add(what)
                pool.append(data)
    except KeyboardInterrupt:
        pass
    return {"outcomes": dict(outcomes), "findings": findings}


def _one(target: Target, data: bytes) -> tuple[str, str]:
    """(what came of it, kind of finding or "")."""
    try:
        signal.setitimer(signal.ITIMER_REAL, target.slow_s)
        try:
            word = target.one_input(data)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooSlow as error:
        return f"slow: over {target.slow_s:g} s at {_place(error)}", "slow"
    except target.expected as error:
        return f"{type(error).__name__} at {_place(error)}", ""
    except Exception as error:
        return f"{type(error).__name__} at {_place(error)}: {str(error)[:120]!r}", "crash"
    return (word if isinstance(word, str) else "ok"), ""


def _place(error: BaseException) -> str:
    """Where it was raised: the innermost frame."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"


def _save(folder: Path, kind: str, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{hashlib.sha256(data).hexdigest()[:16]}"
    path.write_bytes(data)
    return path
