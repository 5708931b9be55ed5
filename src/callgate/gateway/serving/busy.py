"""How many answers are under way, in all workers together."""

from __future__ import annotations

import mmap

_SLOT = 8


class Busy:
    """Each worker writes its own number and reads them all. Two may both take the last place, at the same moment;
    nobody waits for anybody.
    """

    def __init__(self, memory: memoryview | None = None, number: int = 0) -> None:
        self._slots = (memory or memoryview(bytearray(_SLOT))).cast("q")
        self._number = number

    @classmethod
    def shared(cls, file: int, workers: int, number: int = 0) -> Busy:
        """In a file that all of them have open, and that has room for them."""
        return cls(memoryview(mmap.mmap(file, workers * _SLOT)), number)

    @property
    def total(self) -> int:
        return sum(self._slots)

    def add(self, by: int) -> None:
        self._slots[self._number] += by

    def forget(self, number: int) -> None:
        """Of a worker that died in the middle of its work."""
        self._slots[number] = 0


def room_for(workers: int) -> int:
    return workers * _SLOT
