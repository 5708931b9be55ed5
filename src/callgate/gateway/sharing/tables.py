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


class Table(Generic[Row]):
    """Rows by name. Those that are broken aren't there, and go with the next change."""

    def __init__(self, link: RedisLink, name: str, row: type[Row], *, rows: int, bytes_: int) -> None:
        self._link = link
        self.key = f"{PREFIX}{name}"
        self.changes_key = f"{PREFIX}changes:{name}"
        self._row = row
        self._most_rows, self._most_bytes = rows, bytes_

    async def read(self) -> dict[str, Row]:
        """Raises: Away."""
        return self.decoded(await self._link.ask(self._content))

    async def change(self, change: Callable[[dict[str, Row]], Mapping[str, Row] | None]) -> None:
        """`change` may be asked more than once, where others change it, too; `None` leaves it as it is.

        Raises: Away, also where it would be too long.
        """
        from redis.exceptions import WatchError

        async def attempt(redis: Redis) -> bool:
            async with redis.pipeline() as pipe:
                await pipe.watch(self.key)
                content = await pipe.getrange(self.key, 0, self._most_bytes)
                new = change(self.decoded(_bytes(content)))
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
        if len(content) > self._most_bytes:
            return {}
        try:
            raw = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return {}
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
