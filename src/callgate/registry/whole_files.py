"""Files that are written whole or not at all, and that nobody but their owner can read."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from callgate.vocabulary import StorageError

_SHARING_SECONDS = 2.0
"""On Windows a file that somebody reads can't be replaced for a moment."""


def make_folder(path: str) -> None:
    """The folder that `path` lies in, and those above, where they aren't there. Raises: StorageError."""
    folder = os.path.dirname(path)
    if os.path.isdir(folder):
        return
    make_folder(folder)
    try:
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    except OSError as error:
        raise _failed(path, error) from None


def read_whole(path: str, most: int) -> bytes | None:
    """Up to `most` bytes and one more; `None` where there is no such file. Raises: StorageError."""
    until = time.monotonic() + _SHARING_SECONDS
    while True:
        try:
            with open(path, "rb") as file:
                return file.read(most + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            if not _is_shared(error) or time.monotonic() > until:
                raise StorageError(
                    f"{path!r} can't be read: {error.strerror}", hint="CALLGATE_HOME names another folder"
                ) from None
            time.sleep(0.01)


def write_whole(path: str, content: bytes, *, durable: bool = True) -> None:
    """For one writer at a time: whoever reads `path` sees what was there before or all of `content`.

    When it returns, a `durable` one outlives a loss of power too. A writer that is killed leaves `path`.new behind,
    which the next one takes.

    Raises: StorageError.
    """
    new = f"{path}.new"
    try:
        with suppress(FileNotFoundError):
            os.unlink(new)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(new, flags, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                _to_disk(file.fileno())
        _replace(new, path)
        if durable and sys.platform != "win32":
            _folder_to_disk(os.path.dirname(path) or ".")
    except OSError as error:
        with suppress(OSError):
            os.unlink(new)
        raise _failed(path, error) from None


def _replace(new: str, path: str) -> None:
    until = time.monotonic() + _SHARING_SECONDS
    while True:
        try:
            os.replace(new, path)
        except OSError as error:
            if not _is_shared(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _is_shared(error: OSError) -> bool:
    return sys.platform == "win32" and isinstance(error, PermissionError)


def _to_disk(handle: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        # There fsync leaves it in the disk's own memory.
        with suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def _folder_to_disk(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system can
            os.fsync(handle)
    finally:
        os.close(handle)


def _failed(path: str, error: OSError) -> StorageError:
    return StorageError(f"{path!r} can't be written: {error.strerror}", hint="CALLGATE_HOME names another folder")
