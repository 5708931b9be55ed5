"""Keys that every server knows: made here, shown once, and kept as their hashes alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from secrets import token_urlsafe

from callgate.gateway.sharing.key_rows import (
    MOST_KEYS,
    MOST_ROWS,
    NAME,
    Rows,
    SharedKey,
    counting,
    merged,
    missing,
    new_row,
    removed,
)
from callgate.gateway.sharing.link import Away, RedisLink
from callgate.gateway.sharing.tables import Broken, Table
from callgate.settings import Secret
from callgate.vocabulary import BadAnswer, NotFound, Unreachable, UsageError

LONGEST_TABLE = 512 << 10
_LETTERS = 32
"""Bytes of chance in a key: so many that nobody finds one by its hash."""


class KeyRing:
    """Who may ask, by name. What a key opens, all of them open; another's answers none does.

    Where there was ever a key there is a table, even when all were taken back: whoever finds one needs a key.
    """

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self.table = Table(link, "keys", SharedKey, rows=MOST_ROWS, bytes_=LONGEST_TABLE, is_precious=True)

    @classmethod
    async def at(cls, url: Secret) -> KeyRing:
        """Raises: UsageError, Unreachable."""
        link = RedisLink(url)
        await link.open()
        return cls(link)

    async def close(self) -> None:
        await self._link.close()

    async def keys(self) -> dict[str, SharedKey]:
        """Those that count. Raises: Unreachable, BadAnswer."""
        return counting(await self.rows() or {})

    async def rows(self) -> dict[str, SharedKey] | None:
        """Also of those taken back; `None`, if there never was a key. Raises: Unreachable, BadAnswer."""
        try:
            return await self.table.found()
        except Away:
            raise self._lost() from None
        except Broken:
            raise self._broken() from None

    async def add(self, name: str) -> str:
        """The new key. It is told once, for only its hash is kept. Raises: UsageError, Unreachable, BadAnswer."""
        if not NAME.fullmatch(name):
            raise UsageError(f"{name[:80]!r} is no name of a key", hint="letters, digits and . _ - @ +, 64 at most")
        key = f"cg-{token_urlsafe(_LETTERS)}"

        def with_it(rows: dict[str, SharedKey]) -> dict[str, SharedKey]:
            before = rows.get(name)
            if before and before.counts:
                raise UsageError(f"there is a key {name!r}", hint=f"`callgate keys remove {name}` takes it away")
            if len(counting(rows)) >= MOST_KEYS:
                raise UsageError(f"there are {MOST_KEYS:,} keys, and more are not taken", hint="remove some")
            return merged({**rows, name: new_row(digest_of(key).hex(), before)})

        await self._change(with_it)
        return key

    async def remove(self, name: str) -> None:
        """Raises: NotFound, Unreachable, BadAnswer."""

        def without_it(rows: dict[str, SharedKey]) -> dict[str, SharedKey]:
            if name not in counting(rows):
                raise NotFound(f"there is no key {name[:80]!r}", hint="`callgate keys list` names those there are")
            return merged({**rows, name: removed(rows[name])})

        await self._change(without_it)

    async def write_back(self, known: Rows) -> None:
        """What Redis knew once, and has lost. Raises: Away, Broken."""
        await self.table.change(lambda rows: merged(rows, known) if missing(known, rows) else None)

    async def _change(self, change: Callable[[dict[str, SharedKey]], dict[str, SharedKey]]) -> None:
        try:
            await self.table.change(change)
        except Away:
            raise self._lost() from None
        except Broken:
            raise self._broken() from None

    def _lost(self) -> Unreachable:
        return Unreachable(
            f"the Redis at {self._link.place} doesn't do that now", hint="try again; its log may say why"
        )

    def _broken(self) -> BadAnswer:
        return BadAnswer(
            f"what the Redis at {self._link.place} has as {self.table.key!r} is no list of keys of callgate's",
            hint=f"`redis-cli DEL {self.table.key}`: servers that run write back what they know; else add keys anew",
        )


def digest_of(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
