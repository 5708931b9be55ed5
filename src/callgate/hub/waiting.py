"""One download of a file at a time, by however many processes: the others wait, and find it done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from callgate.vocabulary import FetchFailed

LOOK_SECONDS = 0.2


@asynccontextmanager
async def alone(path: str, told: Callable[[], None]) -> AsyncIterator[None]:
    """Holds the lock at `path`, as the hub's own library does; `told` hears if somebody else has it for now.

    Raises: FetchFailed, if there can be no such lock.
    """
    from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

    lock: BaseFileLock
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = FileLock(path, mode=0o664)
        has_told = False
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except Timeout:
                if not has_told:
                    has_told = True
                    told()
                await asyncio.sleep(LOOK_SECONDS)
            except NotImplementedError:  # a file system without locks
                lock = SoftFileLock(path)
    except OSError as error:
        raise FetchFailed(f"{path!r} can't be locked: {error.strerror}") from None
    try:
        yield
    finally:
        with suppress(OSError):
            lock.release()
