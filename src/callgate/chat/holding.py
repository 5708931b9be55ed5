"""A file that one process has to itself: a lock beside it, which goes when it is let go of.

To remove a lock's file is safe only if whoever takes it makes sure afterwards that it still is the one by that name,
and if nobody but its holder removes it. Here both is so; locks that stay are `registry.locked`.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from callgate.vocabulary import StorageError

MOST_TRIES = 100
"""Each fails only because somebody else just let go."""


class Held:
    """Until `release`, or the process ends."""

    def __init__(self, path: str) -> None:
        """The folder of `path` has to be there. Raises: StorageError, if somebody else holds it, or nobody can."""
        self._path = f"{path}.lock"
        for _ in range(MOST_TRIES):
            handle = self._opened()
            try:
                _take(handle)
            except OSError as error:
                os.close(handle)
                raise StorageError(f"{path!r} is held by another process ({error.strerror})") from None
            if self._is_still_there(handle):
                self._handle: int | None = handle
                return
            os.close(handle)
        raise StorageError(f"{path!r} can't be held: its lock never stays")

    def release(self) -> None:
        handle, self._handle = self._handle, None
        if handle is None:
            return
        with suppress(OSError):  # where an open file can't be removed, it stays
            os.unlink(self._path)
        with suppress(OSError):  # said aloud, for a child that was forked meanwhile holds the file open too
            _let_go(handle)
        os.close(handle)

    def _opened(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise StorageError(f"{self._path!r} can't be written: {error.strerror}") from None

    def _is_still_there(self, handle: int) -> bool:
        try:
            named = os.stat(self._path)
        except OSError:
            return False
        return os.path.samestat(named, os.fstat(handle))


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _let_go(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _let_go(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
