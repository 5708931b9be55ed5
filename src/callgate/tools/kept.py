"""What was made of a set of records, kept for the next request that comes with the same ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

Made = TypeVar("Made")

MOST = 64


class Kept(Generic[Made]):
    """The last few things made, by what they were made of. Records are known by identity: comparing would cost more."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, tuple[Sequence[object], Made]] = OrderedDict()

    def of(self, records: Sequence[object], more: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` makes of `records` and `more`; it is only called if that isn't known."""
        key = (*map(id, records), more)
        known = self._made.get(key)
        if known is not None:
            if len(self._made) >= self._most:  # before that, nothing has to go
                with self._lock:
                    if key in self._made:
                        self._made.move_to_end(key)
            return known[1]
        made = make()
        with self._lock:
            # The records are held, too: as long as they are, nothing else can have their identity.
            self._made[key] = (tuple(records), made)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made
