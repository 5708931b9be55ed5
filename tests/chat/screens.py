"""A real terminal for a real process: a pseudo terminal whose screen can be looked at."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

import pyte

from tests.cli.command import CALLGATE, environ

PATIENCE_SECONDS = 60.0
ENTER, ESCAPE, CTRL_C, CTRL_D, CTRL_T, DOWN, TAB, BACKSPACE = (
    "\r",
    "\x1b",
    "\x03",
    "\x04",
    "\x14",
    "\x1b[B",
    "\t",
    "\x7f",
)
ROOT = Path(__file__).parent.parent.parent


class _Screen(pyte.HistoryScreen):  # type: ignore[misc]
    """Answers when it is asked where the cursor is, as terminals do."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], None]) -> None:
        super().__init__(columns, rows, history=2000, ratio=1.0)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        self._answer(data.encode())


class Terminal:
    """`callgate chat` with `words`, on a screen of so many columns and rows."""

    def __init__(self, *words: str, columns: int = 100, rows: int = 40, **more: str) -> None:
        self._leader, follower = pty.openpty()
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(follower, termios.TIOCSWINSZ, size)
        self.written = b""
        """All that was sent to the terminal."""
        self._screen = _Screen(columns, rows, self._send)
        self._stream = pyte.ByteStream(self._screen)
        env = {**environ(**more), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        env.pop("NO_COLOR", None)
        env |= more
        self._process = subprocess.Popen(
            [*CALLGATE, "chat", *words],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=env,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - so that Ctrl-C means this process
        )
        os.close(follower)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            print(self.text, file=sys.stderr)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._leader)

    @property
    def text(self) -> str:
        """What stands there, with what has scrolled away."""
        past = ["".join(line[column].data for column in sorted(line)).rstrip() for line in self._screen.history.top]
        return "\n".join([*past, *(line.rstrip() for line in self._screen.display)])

    @property
    def shown(self) -> list[str]:
        """The lines of the screen that aren't empty."""
        return [line.rstrip() for line in self._screen.display if line.strip()]

    def cell(self, words: str) -> Any:
        """How the first letter of `words` is drawn."""
        for row, line in enumerate(self._screen.display):
            if (column := line.find(words)) >= 0:
                return self._screen.buffer[row][column]
        raise AssertionError(words)

    def type(self, *keys: str) -> None:
        for key in keys:
            self._send(key.encode())

    def say(self, line: str) -> None:
        """A line, once the prompt is there to take it."""
        self.wait_for("›")
        self.type(line, ENTER)

    def wait_for(self, *words: str) -> str:
        """Until all of `words` are there, also what has scrolled away."""
        return self.wait_until(lambda text: all(word in text for word in words), repr(words))

    def wait_until(self, condition: Callable[[str], bool], what: str = "it") -> str:
        until = monotonic() + PATIENCE_SECONDS
        while not condition(text := self.text):
            assert monotonic() < until, f"{what} isn't there:\n{text}"
            self._read(0.1)
        return text

    def ended(self) -> int:
        """Its exit status, when it has ended."""
        until = monotonic() + PATIENCE_SECONDS
        while self._process.poll() is None:
            assert monotonic() < until, f"it goes on:\n{self.text}"
            self._read(0.1)
        self._read(0.1)
        return self._process.returncode

    def end(self, number: int) -> None:
        self._process.send_signal(number)

    def _read(self, seconds: float) -> None:
        if select.select([self._leader], [], [], seconds)[0]:
            try:
                piece = os.read(self._leader, 65536)
            except OSError:  # nobody writes to it any more
                return
            self.written += piece
            self._stream.feed(piece)

    def _send(self, data: bytes) -> None:
        os.write(self._leader, data)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
