"""A lock between processes, and between the threads of one: whoever dies lets go of it."""

from __future__ import annotations

import errno
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from callgate.vocabulary import StorageError

PATIENCE_SECONDS = 10.0
FIRST_WAIT, LONGEST_WAIT = 0.0005, 0.02
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def locked(path: str, *, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Nobody else is in here for the same `path`, whose folder has to be there. The lock's own file is `path`.lock, and
    stays: to remove it would let two in.

    Raises: StorageError, if it isn't free within `patience` seconds, or there can be no lock.
    """
    try:
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise StorageError(
            f"{path!r} can't be locked: {error.strerror}", hint="CALLGATE_HOME names a folder that can be written"
        ) from None
    try:
        _wait(handle, path, time.monotonic() + patience)
        try:
            yield
        finally:
            # Said aloud, for a child that was forked meanwhile holds the file open too.
            with suppress(OSError):
                _release(handle)
    finally:
        os.close(handle)


def _wait(handle: int, path: str, until: float) -> None:
    wait = FIRST_WAIT
    while True:
        try:
            _take(handle)
        except OSError as error:
            if error.errno not in _BUSY:
                raise StorageError(
                    f"{path!r} can't be locked: {error.strerror}",
                    hint="CALLGATE_HOME names a folder on a disk that has locks",
                ) from None
        else:
            return
        if time.monotonic() > until:
            raise StorageError(f"{path!r} is locked by another process", hint="try again when that is done")
        # By chance, so that two who wait don't always meet.
        time.sleep(wait * (0.5 + random.random()))  # noqa: S311
        wait = min(2 * wait, LONGEST_WAIT)


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _release(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
