"""The small process between us and an MCP server on this machine: it ends the server, and all that the server has
started, when we end; and it lets no message pass that is longer than we could bear. Where that is an answer, an error
stands in its place, so that whoever waits for it hears why there is none.

It is run as a script, by its path, and needs nothing but Python. The server gets our end of standard input itself.
"""

from __future__ import annotations

import os
import re
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
MOST_PASSED_OVER = 64
"""So many times as long as a message may be: what is longer still has no end."""
_KEPT = 1024
_TOO_LONG = -32603
_ID = rb'"id"\s*:\s*(-?\d{1,20}|"(?:[^"\\]|\\.){0,200}")'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"'
_ANSWER = rb'"(?:result|error)"'
_ID_FIRST = re.compile(rb"\s*\{\s*(?:%b\s*,\s*)?%b\s*,\s*(?:%b\s*,\s*)?%b" % (_VERSION, _ID, _VERSION, _ANSWER))
_ANSWER_FIRST = re.compile(rb"\s*\{\s*(?:%b\s*,\s*)?%b" % (_VERSION, _ANSWER))
_ID_LAST = re.compile(rb",\s*%b\s*(?:,\s*%b\s*)?\}\s*\Z" % (_ID, _VERSION))
"""Some write it before what they answer, others behind. Nothing but the whole object ends with a line."""


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


class Endless(Exception):
    """A message that there is nothing to be done about."""


class Lines:
    """What a server says, for us: whole lines, for one that never ends would cost us more than the guard; and none
    that is longer than `longest`.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._waiting = bytearray()
        self._start = self._end = b""
        self._passed_over = 0

    def feed(self, chunk: bytes) -> bytes:
        """What of it may pass. Raises: Endless."""
        said = b""
        if self._passed_over:
            rest, newline, chunk = chunk.partition(b"\n")
            self._pass_over(rest)
            if not newline:
                return b""
            said = self._in_its_place()
        self._waiting += chunk
        end = self._waiting.rfind(b"\n", len(self._waiting) - len(chunk)) + 1
        said += self._waiting[:end]
        del self._waiting[:end]
        if len(self._waiting) > self._longest:
            self._pass_over(self._waiting)
            self._waiting.clear()
        return said

    def _pass_over(self, data: bytes | bytearray) -> None:
        if not self._passed_over:
            self._start = bytes(data[:_KEPT])
        self._end = (self._end + data[-_KEPT:])[-_KEPT:]
        self._passed_over += len(data)
        if self._passed_over > MOST_PASSED_OVER * self._longest:
            raise Endless

    def _in_its_place(self) -> bytes:
        """An error, if it was an answer; nothing, if it was no message at all, or one that nobody waits for."""
        start, end, self._start, self._end, self._passed_over = self._start, self._end, b"", b"", 0
        number = _ID_FIRST.match(start) or (_ANSWER_FIRST.match(start) and _ID_LAST.search(end))
        if number is None:
            if _ANSWER_FIRST.match(start):
                raise Endless  # whoever waits for it would wait for ever
            return b""
        why = f"its answer has more than {self._longest:,} bytes, which is too much: ask it for less"
        error = f'{{"code":{_TOO_LONG},"message":"{why}"}}'
        return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (number[1], error.encode())


def _pass_on(source: int, longest: int) -> None:
    lines = Lines(longest)
    while chunk := os.read(source, _CHUNK):
        try:
            _write(1, lines.feed(chunk))
        except Endless:
            _say(f"sent a message of more than {longest:,} bytes")
            _end_all()
        except OSError:  # nobody listens any more
            break
    os.close(1)


def _say(text: str) -> None:
    with suppress(OSError):
        _write(2, f"[{text}]\n".encode(errors="replace"))


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
