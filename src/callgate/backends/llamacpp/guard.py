"""The small process between us and a llama-server of the user's: it ends the server when we end.

The server knows nothing of us, so that somebody has to stay who does.
"""

from __future__ import annotations

import os
import subprocess

from callgate.backends.llamacpp.parentage import die_with, when_input_ends

PATIENCE = 0.7
"""Seconds that the server has to end when it is asked to."""


def main(parent: int, command: list[str]) -> None:
    die_with(parent)
    mine = os.getpid()
    # Not safe beside threads, of which there are none yet: should the guard be killed, the server ends too.
    first = (lambda: die_with(mine)) if os.name == "posix" else None
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=first)  # noqa: PLW1509

    def end() -> None:
        server.terminate()
        try:
            server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
        os._exit(0)

    when_input_ends(end)
    status = server.wait()
    os._exit(status if status >= 0 else 128 - status)
