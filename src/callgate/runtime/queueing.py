"""Lets a few at a time ask a server, so that the time each may take is spent on its answer and not on the others'."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from callgate.vocabulary import Unreachable

AT_ONCE = 8

T = TypeVar("T")


class ServerQueue:
    """Belongs to one event loop, and to one server."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._failures = 0
        self._failure: Unreachable | None = None
        """Until somebody gets an answer again."""

    async def take(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What `ask` gives, when its turn has come. Whoever waited while the server was down needn't find out again.

        Raises: whatever `ask` raises.
        """
        before = self._failures
        async with self._free:
            if self._failure and self._failures != before:
                raise self._failure
            try:
                answer = await ask()
            except Unreachable as failure:
                self._failure = failure
                self._failures += 1
                raise
            self._failure = None
            return answer
