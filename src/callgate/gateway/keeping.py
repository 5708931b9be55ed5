"""Earlier answers that requests may go on from: so many, for so long, and then they are forgotten."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from typing import NamedTuple, Protocol

MOST_ANSWERS = 10_000
MOST_BYTES = 128 << 20
MOST_BYTES_EACH = 16 << 20
LONGEST_SECONDS = 86_400.0

asker: ContextVar[str] = ContextVar("asker", default="")
"""Who asks, by the key that they came with; empty where none is needed."""


class Keeper(Protocol):
    """Several servers may share one. Ids can't be guessed; whoever came with the same key may have what is kept under
    one, and where no keys are needed whoever knows it.
    """

    async def get(self, id_: str) -> bytes | None:
        """Raises: Refused, where that can't be told now."""
        ...

    async def put(self, id_: str, content: bytes) -> None:
        """What is too long isn't kept."""
        ...

    async def drop(self, id_: str) -> bool:
        """Whether it was there. Raises: Refused, where that can't be told now."""
        ...


class _Kept(NamedTuple):
    content: bytes
    until: float


class OwnMemory:
    """The memory of this very process. What was last used longest ago goes first."""

    def __init__(
        self,
        *,
        answers: int = MOST_ANSWERS,
        bytes_: int = MOST_BYTES,
        bytes_each: int = MOST_BYTES_EACH,
        seconds: float = LONGEST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = answers
        self._most_bytes = bytes_
        self._most_bytes_each = min(bytes_each, bytes_)
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self.bytes_kept = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def get(self, id_: str) -> bytes | None:
        kept = self._kept.get(id_)
        if kept is None:
            return None
        if kept.until <= self._clock():
            self._forget(id_)
            return None
        self._kept.move_to_end(id_)
        return kept.content

    async def put(self, id_: str, content: bytes) -> None:
        self._forget(id_)
        if len(content) > self._most_bytes_each:
            return
        self._kept[id_] = _Kept(content, self._clock() + self._seconds)
        self.bytes_kept += len(content)
        while len(self._kept) > self._most or self.bytes_kept > self._most_bytes:
            self._forget(next(iter(self._kept)))

    async def drop(self, id_: str) -> bool:
        was_there = await self.get(id_) is not None
        self._forget(id_)
        return was_there

    def _forget(self, id_: str) -> None:
        if kept := self._kept.pop(id_, None):
            self.bytes_kept -= len(kept.content)


class ApartByKey:
    """A keeper in which each key has its own answers: an id that got about is of no use to those with another."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    async def get(self, id_: str) -> bytes | None:
        return await self._keeper.get(_own(id_))

    async def put(self, id_: str, content: bytes) -> None:
        await self._keeper.put(_own(id_), content)

    async def drop(self, id_: str) -> bool:
        return await self._keeper.drop(_own(id_))


def _own(id_: str) -> str:
    return f"{who}/{id_}" if (who := asker.get()) else id_
