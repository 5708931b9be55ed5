"""Work in a thread of its own, which nobody has to wait for: not the one who gives it up, nor a process that ends."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_own_thread(work: Callable[[], T], *, name: str = "callgate-work") -> T:
    """What `work` gives. Cancelled, it goes on without anybody listening: a thread can't be stopped.

    Raises: what `work` does; RuntimeError, if it wants to end the process.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def tell(result: T | None, error: BaseException | None) -> None:
        if told.done():
            return
        if error is not None:
            told.set_exception(error)
        else:
            told.set_result(result)  # type: ignore[arg-type] # None is what `work` gave

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = context.run(work)
        except (SystemExit, KeyboardInterrupt, StopIteration) as end:
            error = RuntimeError(f"{type(end).__name__}: {end}")
        except BaseException as raised:  # noqa: BLE001 - it is raised where it is waited for
            error = raised
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell, result, error)

    # A daemon, for the interpreter waits for all others, and for those of asyncio's pool too.
    threading.Thread(target=run, name=name, daemon=True).start()
    return await told
