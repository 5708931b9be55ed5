"""The keys that this server last heard of: they go on counting, and go back to a Redis that has lost them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from callgate.gateway.sharing.key_ring import KeyRing
from callgate.gateway.sharing.key_rows import Rows, SharedKey, counting, merged, missing
from callgate.gateway.sharing.tables import Broken

log = logging.getLogger(__name__)

WRITE_BACK_SECONDS = 86_400.0
"""Who heard nothing for longer doesn't tell others what counts."""
QUIET_SECONDS = 60.0
"""Between two complaints."""


class OnKeys(Protocol):
    def __call__(self, digests: frozenset[bytes], *, is_needed: bool) -> None: ...


class KnownKeys:
    """`on_keys` hears which count, and whether one is needed, each time that they may have changed."""

    def __init__(
        self, ring: KeyRing, place: str, on_keys: OnKeys, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ring = ring
        self._place = place
        self._on_keys = on_keys
        self._clock = clock
        self._rows: Rows = {}
        self._heard_at = self._complained_at = -1e9

    async def join(self) -> None:
        """Raises: Unreachable, BadAnswer."""
        rows = await self._ring.rows()
        if rows is not None and not counting(rows):
            log.warning("all keys at %s were taken back: `callgate keys add NAME` makes one", self._place)
        self._hear(rows)

    async def hear(self) -> None:
        """Raises: Away."""
        try:
            found: Rows | None = await self._ring.table.found()
            if lost := missing(self._rows, found or {}):
                found = await self._told_again(found, lost)
        except Broken:
            if self._clock() - self._complained_at > QUIET_SECONDS:
                self._complained_at = self._clock()
                log.warning(
                    "what the Redis at %s has as %r is broken: the keys known here go on counting (see `callgate keys"
                    " list`)",
                    self._place,
                    self._ring.table.key,
                )
            return
        self._hear(found)

    async def _told_again(self, found: Rows | None, lost: Rows) -> Rows | None:
        """What there is then. Raises: Away, Broken."""
        if self._clock() - self._heard_at > WRITE_BACK_SECONDS:
            log.warning("the Redis at %s lost %d keys, which nobody remembers well enough", self._place, len(lost))
            return found
        await self._ring.write_back(self._rows)
        log.warning(
            "the Redis at %s had lost keys (%d of them): they are written back. It should keep them on disk"
            " (appendonly yes)",
            self._place,
            len(lost),
        )
        return merged(found or {}, self._rows)

    def _hear(self, rows: Rows | None) -> None:
        self._rows, self._heard_at = rows or {}, self._clock()
        self._on_keys(_digests(counting(self._rows)), is_needed=rows is not None)


def _digests(keys: dict[str, SharedKey]) -> frozenset[bytes]:
    return frozenset(bytes.fromhex(key.digest) for key in keys.values())
