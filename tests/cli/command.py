"""Runs the real command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

from tests.runtime.played import NOBODY

CALLGATE = (sys.executable, "-m", "callgate")


class Done(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def environ(**more: str) -> dict[str, str]:
    """Without an Ollama, unless `more` names one."""
    return {**os.environ, "OLLAMA_HOST": NOBODY, **more}


def callgate(*words: str | bytes, given: bytes = b"", **more: str) -> Done:
    """`given` is its standard input, `more` its environment's."""
    done = subprocess.run(
        [*CALLGATE, *words], input=given, env=environ(**more), capture_output=True, timeout=60, check=False
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def check(*words: str | bytes, given: bytes = b"", **more: str) -> Done:
    return callgate("check", *words, given=given, **more)
