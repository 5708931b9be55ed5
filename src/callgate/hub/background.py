"""Work that blocks, done where nobody has to wait for it when the program is to end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_background(work: Callable[[], T]) -> T:
    """What `work` gives, done in a thread. Whoever is cancelled leaves it behind; it ends with the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def give(value: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(value)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except Exception as error:  # noqa: BLE001
            failure = error
        with suppress(RuntimeError):  # whoever waited is gone, and their loop too
            loop.call_soon_threadsafe(give, value, failure)

    threading.Thread(target=run, daemon=True, name="callgate-hub").start()
    return await done
