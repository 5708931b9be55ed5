"""Remembers answers for a while, and lets many who ask the same at once wait for one answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

MOST_KEPT = 1000
"""Names of models come from clients, and a client may make up as many as it likes."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Made(NamedTuple, Generic[V]):
    """An answer, how many seconds it is good for, and what version of the thing it is about."""

    value: V
    keep: float
    version: str | None = None


class _Kept(NamedTuple, Generic[V]):
    value: V
    until: float
    """On the monotonic clock."""
    version: str | None


class Memory(Generic[K, V]):
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._kept: dict[K, _Kept[V]] = {}
        self._under_way: dict[K, asyncio.Task[V]] = {}
        self._left: set[asyncio.Task[V]] = set()
        """Under way when everything was forgotten: somebody may still wait for them."""

    async def recall(self, key: K, version: str | None, make: Callable[[], Awaitable[Made[V]]]) -> V:
        """The answer for `key` that is remembered of this `version`, or else what `make` gives.

        Raises: whatever `make` raises.
        """
        kept = self._kept.get(key)
        if kept is not None and kept.version == version and time.monotonic() < kept.until:
            return kept.value
        if (task := self._under_way.get(key)) is None:
            task = self._under_way[key] = asyncio.create_task(self._make(key, make))
            task.add_done_callback(lambda done: self._done(key, done))
        # One asker may give up without taking the answer from the others.
        return await asyncio.shield(task)

    def clear(self) -> None:
        """Forget everything, what is about to be found out too."""
        self._kept.clear()
        self._left.update(self._under_way.values())
        self._under_way.clear()

    async def close(self) -> None:
        self.clear()
        left = list(self._left)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _make(self, key: K, make: Callable[[], Awaitable[Made[V]]]) -> V:
        made = await make()
        if self._under_way.get(key) is asyncio.current_task():
            self._kept.pop(key, None)  # so that it counts as the newest
            while len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = _Kept(made.value, time.monotonic() + made.keep, made.version)
        return made.value

    def _done(self, key: K, task: asyncio.Task[V]) -> None:
        if self._under_way.get(key) is task:
            del self._under_way[key]
        self._left.discard(task)
        if not task.cancelled():
            task.exception()  # seen, even if every asker has gone
