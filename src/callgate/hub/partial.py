"""A file on its way: the parts that have arrived, and a note of which these are, so that a killed download goes on.

A part is written first and noted then, each part by one byte of its own: whatever moment a process is killed in, what
is noted is there.
"""

from __future__ import annotations

import errno
import os
import threading
from contextlib import suppress
from typing import BinaryIO

from callgate.vocabulary import FetchFailed, NoSpace

PART = 2_000_000
"""Bytes. With a few connections, what a kill loses stays under 10 MB."""
NOTES = ".parts"
_NOTED = b"\1"


def part_sizes(size: int) -> range:
    """The offsets at which the parts of a file of `size` bytes start."""
    return range(0, size, PART)


class Partial:
    """Used by one process at a time, which holds the file's lock; may be read by others meanwhile."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.size = size
        self._notes_path = path + NOTES
        self._title = f"callgate 1 {size} {PART}\n".encode()
        self._guard = threading.Lock()
        self._file: BinaryIO | None = None
        self._notes: BinaryIO | None = None
        self._done = self._read_notes()

    @property
    def count(self) -> int:
        return len(part_sizes(self.size))

    @property
    def done_bytes(self) -> int:
        return sum(self.length(number) for number in self._done)

    def length(self, number: int) -> int:
        return min(PART, self.size - number * PART)

    def has(self, number: int) -> bool:
        return number in self._done

    def missing(self) -> list[int]:
        return [number for number in range(self.count) if number not in self._done]

    def read(self, number: int) -> bytes | None:
        """The part, if it is there."""
        if number not in self._done:
            return None
        with suppress(OSError), open(self.path, "rb") as file:
            file.seek(number * PART)
            piece = file.read(self.length(number))
            return piece if len(piece) == self.length(number) else None
        return None

    def open(self) -> None:
        """Raises: NoSpace, FetchFailed."""
        with self._explained():
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self._done = self._read_notes()
            is_new = not self._done
            self._file = open(self.path, "wb" if is_new else "r+b", buffering=0)  # noqa: SIM115
            self._file.truncate(self.size)
            self._notes = open(self._notes_path, "wb" if is_new else "r+b", buffering=0)  # noqa: SIM115
            if is_new:
                self._notes.write(self._title + bytes(self.count))

    def write(self, number: int, content: bytes) -> None:
        """Raises: NoSpace, FetchFailed."""
        assert self._file is not None
        assert self._notes is not None
        with self._explained(), self._guard:
            self._file.seek(number * PART)
            left = memoryview(content)
            while left:
                left = left[self._file.write(left) :]
            self._notes.seek(len(self._title) + number)
            self._notes.write(_NOTED)
            self._done.add(number)

    def close(self) -> None:
        for opened in (self._file, self._notes):
            if opened is not None:
                opened.close()
        self._file = self._notes = None

    def arrive(self, target: str) -> None:
        """All is there and was looked at: appears at `target` in one moment. Raises: NoSpace, FetchFailed."""
        with self._explained():
            if self._file is not None:
                os.fsync(self._file.fileno())
            self.close()
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(self.path, target)
        with suppress(OSError):
            os.remove(self._notes_path)

    def discard(self) -> None:
        self.close()
        self._done = set()
        for path in (self._notes_path, self.path):
            with suppress(OSError):
                os.remove(path)

    def _read_notes(self) -> set[int]:
        """Nothing, if they belong to another file, or it is gone."""
        try:
            if os.path.getsize(self.path) != self.size:
                return set()
            with open(self._notes_path, "rb") as file:
                notes = file.read(len(self._title) + self.count + 1)
        except OSError:
            return set()
        if not notes.startswith(self._title) or len(notes) != len(self._title) + self.count:
            return set()
        return {number for number, note in enumerate(notes[len(self._title) :]) if note == _NOTED[0]}

    def _explained(self) -> _Explained:
        return _Explained(self.path)


class _Explained:
    """What a file system says, in our words."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        if isinstance(error, OSError):
            folder = os.path.dirname(self._path)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoSpace(
                    f"there is no room left in {folder!r}", hint="make some and run this again: it goes on where it was"
                ) from None
            raise FetchFailed(f"{self._path!r} can't be written: {error.strerror}") from None
