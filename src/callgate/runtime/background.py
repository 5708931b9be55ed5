"""An event loop in a thread of its own, for programs that have none."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from callgate.vocabulary import UsageError

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines for other threads. `end` is the last one that it runs."""

    def __init__(self, name: str, end: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._name = name
        self._end = end
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"callgate-{name}", daemon=True)
        self._thread.start()
        self._closing = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        atexit.register(self.close)  # later the thread is gone, and to wait for it would be for ever

    @property
    def closed(self) -> bool:
        return self._closed

    def result(self, work: Coroutine[Any, Any, T]) -> T:
        """Raises: UsageError, if it is closed; what `work` raises."""
        return self.begun(work).result()

    def begun(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._closing:
            if not self._closed:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise UsageError(f"the {self._name} is closed", hint="make another one")

    def call_soon(self, action: Callable[[], object]) -> None:
        with self._closing:
            if not self._closed:
                self._loop.call_soon_threadsafe(action)

    def close(self) -> None:
        if self._process != os.getpid():  # a forked child's copy has no thread
            return
        with self._closing:
            if self._closed:
                return
            self._closed = True
        atexit.unregister(self.close)
        asyncio.run_coroutine_threadsafe(self._ended(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _ended(self) -> None:
        await self._end()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:  # whoever waits for one of them in another thread must not wait for ever
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
