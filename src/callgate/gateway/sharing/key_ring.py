"""Keys that every server knows: made here, shown once, and kept as their hashes alone."""

from __future__ import annotations

import hashlib
import re
import time
from secrets import token_urlsafe
from typing import Annotated

import msgspec

from callgate.gateway.sharing.link import Away, RedisLink
from callgate.gateway.sharing.tables import Table
from callgate.settings import Secret
from callgate.vocabulary import NotFound, Unreachable, UsageError

MOST_KEYS = 1_000
LONGEST_TABLE = 512 << 10
_LETTERS = 32
"""Bytes of chance in a key: so many that nobody finds one by its hash."""
_NAME = re.compile(r"[\w.@+-]{1,64}", re.ASCII)
_DIGEST = r"^[0-9a-f]{64}$"


class SharedKey(msgspec.Struct, frozen=True, kw_only=True):
    digest: str = msgspec.field(name="sha256")
    made_at: Annotated[float, msgspec.Meta(ge=0, le=1e11)] = 0.0

    def __post_init__(self) -> None:
        if not re.match(_DIGEST, self.digest):
            raise ValueError("no hash")


class KeyRing:
    """Who may ask, by name. What a key opens, all of them open; another's answers none does."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self.table = Table(link, "keys", SharedKey, rows=MOST_KEYS, bytes_=LONGEST_TABLE)

    @classmethod
    async def at(cls, url: Secret) -> KeyRing:
        """Raises: UsageError, Unreachable."""
        link = RedisLink(url)
        await link.open()
        return cls(link)

    async def close(self) -> None:
        await self._link.close()

    async def keys(self) -> dict[str, SharedKey]:
        """Raises: Unreachable."""
        try:
            keys = await self.table.read()
        except Away:
            raise self._lost() from None
        return {name: key for name, key in keys.items() if _NAME.fullmatch(name)}

    async def add(self, name: str) -> str:
        """The new key. It is told once, for only its hash is kept. Raises: UsageError, Unreachable."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name[:80]!r} is no name of a key", hint="letters, digits and . _ - @ +, 64 at most")
        key = f"cg-{token_urlsafe(_LETTERS)}"
        made = SharedKey(digest=digest_of(key).hex(), made_at=float(int(time.time())))

        def with_it(keys: dict[str, SharedKey]) -> dict[str, SharedKey]:
            if name in keys:
                raise UsageError(f"there is a key {name!r}", hint=f"`callgate keys remove {name}` takes it away")
            if len(keys) >= MOST_KEYS:
                raise UsageError(f"there are {MOST_KEYS:,} keys, and more are not taken", hint="remove some")
            return {**keys, name: made}

        try:
            await self.table.change(with_it)
        except Away:
            raise self._lost() from None
        return key

    async def remove(self, name: str) -> None:
        """Raises: NotFound, Unreachable."""

        def without_it(keys: dict[str, SharedKey]) -> dict[str, SharedKey]:
            if name not in keys:
                raise NotFound(f"there is no key {name[:80]!r}", hint="`callgate keys list` names those there are")
            return {each: key for each, key in keys.items() if each != name}

        try:
            await self.table.change(without_it)
        except Away:
            raise self._lost() from None

    def _lost(self) -> Unreachable:
        return Unreachable(
            f"the Redis at {self._link.place} doesn't do that now", hint="try again; its log may say why"
        )


def digest_of(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
