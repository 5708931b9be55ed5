"""What was typed before, for the arrow keys: kept in a file that only its owner can read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from prompt_toolkit.history import History

LARGEST_FILE = 1_000_000
LONGEST_LINE = 100_000
"""What is longer was hardly typed, and is forgotten with the chat."""
MOST_KEPT = 2000
_ESCAPED = re.compile(r"\\(.)")


class Past(History):
    """Where the file is shows only when the settings are loaded; what is typed before is written then."""

    def __init__(self) -> None:
        super().__init__()
        self._path: str | None = None
        self._unwritten: list[str] = []

    def open(self, path: str) -> None:
        self._path = path
        older = list(self._read(path))
        self._cut(path, older)
        self._loaded = True
        self._loaded_strings = [*reversed(self._unwritten), *reversed(older)]
        for text in self._unwritten:
            self._write(text)
        self._unwritten.clear()

    def load_history_strings(self) -> Iterable[str]:
        return ()

    def store_string(self, string: str) -> None:
        if self._path is None:
            self._unwritten.append(string)
        else:
            self._write(string)

    def _read(self, path: str) -> Iterable[str]:
        try:
            with open(path, "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - LARGEST_FILE))
                lines = file.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return
        for line in lines[-MOST_KEPT:]:
            if line:
                yield _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], line)

    def _cut(self, path: str, newest: list[str]) -> None:
        """A file that has grown too large gets by with the newest half of what may be kept."""
        from callgate.registry import write_whole
        from callgate.vocabulary import StorageError

        try:
            if os.path.getsize(path) <= LARGEST_FILE:
                return
            kept: list[bytes] = []
            room = LARGEST_FILE // 2
            for line in map(_line, reversed(newest)):
                if len(line) > LONGEST_LINE:
                    continue
                if (room := room - len(line)) < 0:
                    break
                kept.append(line)
            write_whole(path, b"".join(reversed(kept)), durable=False)
        except (OSError, StorageError):
            return

    def _write(self, string: str) -> None:
        line = _line(string)
        if len(line) > LONGEST_LINE:
            return
        try:
            os.makedirs(os.path.dirname(self._path or "."), mode=0o700, exist_ok=True)
            handle = os.open(self._path or "", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)
        except OSError:
            return


def _line(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("\n", "\\n").encode("utf-8", "replace") + b"\n"
