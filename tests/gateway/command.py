"""`callgate serve` in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.cli.command import CALLGATE, environ


class Served(NamedTuple):
    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def served(*words: str, **more: str) -> Iterator[Served]:
    """Ready, at a free port. It is told to stop at the end, and must."""
    command = [*CALLGATE, "serve", "--port", "0", "--json", "--drain", "2", *words]
    with subprocess.Popen(command, env=environ(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert line, process.stderr.read().decode() if process.stderr else ""
            yield Served(json.loads(line)["url"], process)
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                assert process.wait(30) == 0
        finally:
            if process.poll() is None:
                process.kill()
