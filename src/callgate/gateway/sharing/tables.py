"""A small table in Redis: one bounded text under one name, with a mark beside it that is another after each change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from callgate.gateway.sharing.link import PREFIX, Away, RedisLink, changed

if TYPE_CHECKING:
    from redis.asyncio import Redis

LONGEST_NAME = 4_096
TRIES = 8

Row = TypeVar("Row", bound=msgspec.Struct)


class Broken(Exception):
    """What is there is no table."""


class Table(Generic[Row]):
    """Rows by name. Those that are broken aren't there, and go with the next change; so does, unless the table is
    precious, what is no table at all.
    """

    def __init__(
        self, link: RedisLink, name: str, row: type[Row], *, rows: int, bytes_: int, is_precious: bool = False
    ) -> None:
        self._link = link
        self.key = f"{PREFIX}{name}"
        self.changes_key = f"{PREFIX}changes:{name}"
        self._row = row
        self._most_rows, self._most_bytes = rows, bytes_
        self._is_precious = is_precious

    async def read(self) -> dict[str, Row]:
        """Raises: Away."""
        return self.decoded(await self._link.ask(self._content))

    async def found(self) -> dict[str, Row] | None:
        """`None`, if there is none. Raises: Away, Broken."""
        content = await self._link.ask(self._content)
        return self._checked(content) if content else None

    async def change(self, change: Callable[[dict[str, Row]], Mapping[str, Row] | None]) -> None:
        """`change` may be asked more than once, where others change it, too; `None` leaves it as it is.

        Raises: Away, also where it would be too long; Broken, if it is precious.
        """
        from redis.exceptions import WatchError

        async def attempt(redis: Redis) -> bool:
            async with redis.pipeline() as pipe:
                await pipe.watch(self.key)
                content = await pipe.getrange(self.key, 0, self._most_bytes)
                old = _bytes(content)
                new = change(self._checked(old) if old and self._is_precious else self.decoded(old))
                if new is None:
                    return True
                encoded = msgspec.json.encode(new)
                if len(new) > self._most_rows or len(encoded) > self._most_bytes:
                    raise Away
                pipe.multi()  # type: ignore[no-untyped-call]
                pipe.pipeline_execute_command("SET", self.key, encoded)  # type: ignore[no-untyped-call]
                pipe.pipeline_execute_command(*changed(self.changes_key))  # type: ignore[no-untyped-call]
                try:
                    await pipe.execute()
                except WatchError:
                    return False
            return True

        for _ in range(TRIES):
            if await self._link.ask(attempt):
                return
        raise Away

    def decoded(self, content: bytes) -> dict[str, Row]:
        try:
            return self._checked(content)
        except Broken:
            return {}

    def _checked(self, content: bytes) -> dict[str, Row]:
        """Raises: Broken."""
        if len(content) > self._most_bytes:
            raise Broken
        try:
            raw = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise Broken from None
        rows: dict[str, Row] = {}
        for name, text in raw.items():
            if len(name) > LONGEST_NAME or len(rows) >= self._most_rows:
                continue
            try:
                rows[name] = msgspec.json.decode(text, type=self._row)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
        return rows

    async def _content(self, redis: Redis) -> bytes:
        return _bytes(await redis.getrange(self.key, 0, self._most_bytes))


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""
