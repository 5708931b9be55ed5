"""Where log lines go: to standard error, or to a file that its owner alone can read, and that doesn't grow for ever."""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import suppress

from callgate.cli.screen import Screen, printable
from callgate.registry import locked, make_folder, tell
from callgate.settings import without_password
from callgate.vocabulary import StorageError

LARGEST_LOG = 1_000_000
OLD_LOGS = 3
LONGEST_LINE = 2000
_OWNER_ONLY = 0o600
_PATIENCE_SECONDS = 0.2


def told(record: logging.LogRecord) -> str:
    """The message on one line, without passwords. Of an exception only the kind: its text may be anything."""
    message = without_password(record.getMessage())
    if record.exc_info and record.exc_info[0]:
        message += f" ({record.exc_info[0].__name__})"
    return printable(message[:LONGEST_LINE])


class StandardError(logging.Handler):
    """Asks for the stream each time: whoever draws a screen puts another in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):  # it may be closed
            screen = Screen(sys.stderr)
            screen.line(screen.styled(f"{record.levelname.lower()}: {told(record)}", "dim"))


class LogFile(logging.Handler):
    """Of as many processes as there are: each line is written at once, and one of them moves a full file aside."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._handle: int | None = None
        self._given_up = False

    def emit(self, record: logging.LogRecord) -> None:
        if self._given_up:
            return
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        line = f"{at} {record.levelname.lower()} {record.process} {record.name}: {told(record)}\n"
        try:
            os.write(self._ready(), line.encode("utf-8", "replace"))
        except (OSError, StorageError) as error:
            self._given_up = True
            why = error.message if isinstance(error, StorageError) else error.strerror
            tell(f"there is no log, for {self._path!r} can't be written: {why}")

    def close(self) -> None:
        self._let_go()
        super().close()

    def _ready(self) -> int:
        """The file that has the name now, and room for a line."""
        if self._handle is None:
            make_folder(self._path)
            self._handle = self._open()
        if not self._is_current(self._handle):
            self._let_go()
            self._handle = self._open()
        if os.fstat(self._handle).st_size >= LARGEST_LOG:
            self._handle = self._moved_aside(self._handle)
        return self._handle

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        return os.open(self._path, flags, _OWNER_ONLY)

    def _is_current(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _moved_aside(self, handle: int) -> int:
        with suppress(OSError, StorageError), locked(self._path, patience=_PATIENCE_SECONDS):
            if os.stat(self._path).st_size >= LARGEST_LOG:  # nobody was faster
                for number in range(OLD_LOGS, 0, -1):
                    newer = f"{self._path}.{number - 1}" if number > 1 else self._path
                    with suppress(FileNotFoundError):
                        os.replace(newer, f"{self._path}.{number}")
            fresh = self._open()
            os.close(handle)
            return fresh
        return handle  # a file that is too large is better than none

    def _let_go(self) -> None:
        if self._handle is not None:
            with suppress(OSError):
                os.close(self._handle)
            self._handle = None
