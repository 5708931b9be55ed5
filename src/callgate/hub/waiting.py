"""One download of a file at a time, by however many processes: the others wait, and find it done."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from callgate.vocabulary import FetchFailed

LOOK_SECONDS = 0.2


@asynccontextmanager
async def alone(path: str, told: Callable[[], None]) -> AsyncIterator[None]:
    """Holds the lock at `path`, as the hub's own library does; `told` hears if somebody else has it for now.

    Raises: FetchFailed, if there can be no such lock.
    """
    from filelock import FileLock, SoftFileLock, Timeout

    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = FileLock(path, mode=0o664)
        has_told = False
        while True:
            try:
                with warnings.catch_warnings(action="ignore"):
                    lock.acquire(timeout=0)
                if not isinstance(lock, SoftFileLock):
                    break
                lock.release()
            except Timeout:
                if not isinstance(lock, SoftFileLock):
                    if not has_told:
                        has_told = True
                        told()
                    await asyncio.sleep(LOOK_SECONDS)
                    continue
            except NotImplementedError:
                pass
            lock = FileLock(_elsewhere(path, lock.lock_file), mode=0o664)
    except OSError as error:
        raise FetchFailed(f"{path!r} can't be locked: {error.strerror}") from None
    try:
        yield
    finally:
        with suppress(OSError):
            lock.release()


def _elsewhere(path: str, tried: str) -> str:
    """For a file system without locks: a mere file would stay behind when its process is killed.

    Raises: FetchFailed.
    """
    if tried != path:
        raise FetchFailed(f"{path!r} can't be locked, nor can {tried!r}")
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    return os.path.join(tempfile.gettempdir(), f"callgate-{name}.lock")
