"""The small process between us and an MCP server on this machine: it ends the server, and all that the server has
started, when we end; and it lets no message pass that is longer than we could bear.

It is run as a script, by its path, and needs nothing but Python. The server gets our end of standard input itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

PATIENCE = 1.0
"""Seconds that a server has to end after its standard input has."""
LAST_WORDS = 0.5
"""Seconds in which what a server that has ended still said may reach us."""
_PR_SET_PDEATHSIG = 1
_POLL = 0.5
_CHUNK = 65_536


def main(parent: int, longest: int, command: list[str]) -> None:
    if os.getpgrp() != os.getpid():
        os.setsid()  # whoever is in our group ends with us
    signal.signal(signal.SIGTERM, _do_nothing)  # it goes to the whole group: the server ends, and then we do
    signal.signal(signal.SIGINT, _do_nothing)
    signal.signal(signal.SIGUSR1, lambda *_: _end_soon())
    _tell_of_the_end_of(parent, signal.SIGUSR1)
    mine = os.getpid()
    try:
        server = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            # Not safe beside threads, of which there are none yet.
            preexec_fn=lambda: _tell_of_the_end_of(mine, signal.SIGKILL),  # noqa: PLW1509
        )
    except OSError as error:
        _say(f"{command[0]!r} can't be started: {error.strerror}")
        os._exit(127)
    _let_go_of_input()
    if not sys.platform.startswith("linux"):
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    assert server.stdout
    relay = threading.Thread(target=_pass_on, args=(server.stdout.fileno(), longest), daemon=True)
    relay.start()
    status = server.wait()
    relay.join(LAST_WORDS)
    if status:
        _say(f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}")
    _end_all()


def _do_nothing(*_: object) -> None:
    """Unlike a signal that is ignored, one that has a handler isn't ignored by the server, too."""


def _tell_of_the_end_of(parent: int, by: signal.Signals) -> None:
    """On Linux, have this process sent a signal when its parent ends."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0)
    if os.getppid() != parent:  # it had ended before that
        os._exit(1)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL)
    _end_soon()


def _end_soon() -> None:
    timer = threading.Timer(PATIENCE, _end_all)
    timer.daemon = True
    timer.start()


def _end_all() -> None:
    """The server's children, too, and ourselves."""
    os.killpg(0, signal.SIGKILL)


def _let_go_of_input() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _pass_on(source: int, longest: int) -> None:
    """Only whole lines: one that never ends would cost our parent more than us."""
    waiting = bytearray()
    while chunk := os.read(source, _CHUNK):
        waiting += chunk
        end = len(waiting) - len(chunk) + chunk.rfind(b"\n") + 1 if b"\n" in chunk else 0
        if len(waiting) - end > longest:
            _say(f"sent a message of more than {longest:,} bytes")
            _end_all()
        try:
            _write(1, waiting[:end])
        except OSError:  # nobody listens any more
            break
        del waiting[:end]
    os.close(1)


def _say(text: str) -> None:
    with suppress(OSError):
        _write(2, f"[{text}]\n".encode(errors="replace"))


def _write(target: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
