"""How long until `callgate chat` shows its prompt, on a real terminal, against Python importing prompt_toolkit."""

from __future__ import annotations

import importlib.metadata
import os
import pty
import signal
import subprocess
from pathlib import Path
from time import monotonic, perf_counter

from bench.harness import Bench, BenchError, Measurement, Row, Side

AT_MOST_TIMES_PROMPT_TOOLKIT = 1.3
REPEATS = 30
PATIENCE_SECONDS = 60.0
PROMPT = "› ".encode()
NAME = "start of chat, to its prompt"


def run(bench: Bench) -> list[Row]:
    python = bench.python()
    command = str(Path(python).parent / "callgate")
    version = f"prompt_toolkit {importlib.metadata.version('prompt_toolkit')}"
    environ = {**os.environ, "CALLGATE_HOME": str(bench.scratch), "TERM": "xterm-256color"}
    ours = Side("callgate", lambda: [Measurement(NAME, _until_prompt([command, "chat", "tiny"], environ), "ms")])
    peer = bench.command(NAME, python, "-c", "import prompt_toolkit", peer_version=version)
    for side in (ours, peer):
        side.measure()  # bytecode is written, files are in memory
    return bench.compare(ours, peer, repeats=REPEATS, at_least=1 / AT_MOST_TIMES_PROMPT_TOOLKIT)


def _until_prompt(argv: list[str], environ: dict[str, str]) -> float:
    """From the start of the process until the prompt is on the screen, in ms."""
    leader, follower = pty.openpty()
    try:
        start = perf_counter()
        process = subprocess.Popen(argv, stdin=follower, stdout=follower, stderr=follower, env=environ, close_fds=True)
        os.close(follower)
        try:
            return _waited(leader, start)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    finally:
        os.close(leader)


def _waited(leader: int, start: float) -> float:
    seen = b""
    until = monotonic() + PATIENCE_SECONDS
    while PROMPT not in seen:
        if monotonic() > until:
            raise BenchError(f"there is no prompt: {seen[-300:]!r}")
        try:
            seen += os.read(leader, 65536)
        except OSError:
            raise BenchError(f"it ended before its prompt: {seen[-300:]!r}") from None
    return (perf_counter() - start) * 1e3
