"""Answers that any of the servers may go on from: so many, so long and for so long, all of them together."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import msgspec

from callgate.gateway.asgi import Refused
from callgate.gateway.dialect import Failure
from callgate.gateway.keeping import LONGEST_SECONDS, MOST_ANSWERS, MOST_BYTES_EACH, OwnMemory
from callgate.gateway.sharing.link import PREFIX, Away, RedisLink
from callgate.gateway.writing.responses import Stored

if TYPE_CHECKING:
    from redis.asyncio import Redis

MOST_BYTES = 512 << 20
"""In Redis, of all answers together."""
LONGEST_ID = 256
MOST_UNTOLD = 10_000

_NAMES = f"""
local index, total, prefix = '{PREFIX}answers', '{PREFIX}answers:bytes', '{PREFIX}answer:'
local function forget(entry)
  redis.call('ZREM', index, entry)
  local size, id = string.match(entry, '^(%d+) (.+)$')
  if size then
    redis.call('UNLINK', prefix .. id)
    redis.call('DECRBY', total, size)
  end
end
"""
_PUT = f"""{_NAMES}
local content, id = ARGV[1], ARGV[2]
local seconds, most, most_bytes = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local now = tonumber(redis.call('TIME')[1])
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now - seconds, 'LIMIT', 0, 1000)) do forget(entry) end
if redis.call('ZCARD', index) == 0 then redis.call('SET', total, 0) end
local entry = #content .. ' ' .. id
if redis.call('ZADD', index, now, entry) == 1 then redis.call('INCRBY', total, #content) end
redis.call('SET', prefix .. id, content, 'EX', seconds)
for _ = 1, 1000 do
  local count, bytes = redis.call('ZCARD', index), tonumber(redis.call('GET', total))
  if count <= 1 or (count <= most and bytes <= most_bytes) then break end
  forget(redis.call('ZRANGE', index, 0, 0)[1])
end
redis.call('EXPIRE', index, seconds)
redis.call('EXPIRE', total, seconds)
return 1
"""
_DROP = f"""{_NAMES}
local size = redis.call('STRLEN', prefix .. ARGV[1])
forget(size .. ' ' .. ARGV[1])
return size > 0 and 1 or 0
"""


class SharedAnswers:
    """A `Keeper`. Each server also remembers by itself what it kept, for when Redis is away."""

    def __init__(
        self,
        link: RedisLink,
        *,
        answers: int = MOST_ANSWERS,
        bytes_: int = MOST_BYTES,
        bytes_each: int = MOST_BYTES_EACH,
        seconds: float = LONGEST_SECONDS,
    ) -> None:
        self._link = link
        self._limits = (max(1, int(seconds)), answers, bytes_)
        self._most_bytes_each = min(bytes_each, bytes_)
        self._own = OwnMemory(bytes_each=bytes_each, seconds=seconds)
        self._unsent: dict[str, None] = {}
        """What Redis doesn't know of."""
        self._undropped: dict[str, None] = {}
        """What it is yet to forget."""

    async def get(self, id_: str) -> bytes | None:
        """Raises: Refused, if another of us may have kept it, and Redis can't be asked."""
        if len(id_) > LONGEST_ID or id_ in self._undropped:
            return None
        try:
            content = await self._link.ask(lambda redis: self._read(redis, id_))
        except Away:
            if (own := await self._own.get(id_)) is None:
                raise self._unknown() from None
            return own
        if content is None and id_ in self._unsent:
            return await self._own.get(id_)
        return content

    async def put(self, id_: str, content: bytes) -> None:
        if len(id_) > LONGEST_ID or len(content) > self._most_bytes_each:
            return
        await self._own.put(id_, content)
        try:
            await self._sent(id_, content)
        except Away:
            _note(self._unsent, id_)

    async def drop(self, id_: str) -> bool:
        """Raises: Refused, as above."""
        if len(id_) > LONGEST_ID or id_ in self._undropped:
            return False
        was_here = await self._own.drop(id_)
        self._unsent.pop(id_, None)
        try:
            return bool(await self._dropped(id_))
        except Away:
            if not was_here:
                raise self._unknown() from None
            _note(self._undropped, id_)
            return True

    async def catch_up(self) -> None:
        """Redis is told what it couldn't be told before. Raises: Away."""
        for id_ in list(self._unsent):
            if (content := await self._own.get(id_)) is not None:
                await self._sent(id_, content)
            self._unsent.pop(id_, None)
        for id_ in list(self._undropped):
            await self._dropped(id_)
            self._undropped.pop(id_, None)

    async def _sent(self, id_: str, content: bytes) -> None:
        await self._link.ask(lambda redis: redis.eval(_PUT, 0, content, id_, *self._limits))

    async def _dropped(self, id_: str) -> object:
        return await self._link.ask(lambda redis: redis.eval(_DROP, 0, id_))

    def _unknown(self) -> Refused:
        seconds = max(1, ceil(self._link.pause))
        said = "whether that answer is kept can't be told now: what the servers share is away"
        failure = Failure(status=503, kind="unknown", message=said, hint="ask again, or send the conversation as input")
        return Refused(failure, [(b"retry-after", b"%d" % seconds)])

    async def _read(self, redis: Redis, id_: str) -> bytes | None:
        content = await redis.getrange(f"{PREFIX}answer:{id_}", 0, self._most_bytes_each)
        if not isinstance(content, bytes) or not 0 < len(content) <= self._most_bytes_each:
            return None
        return content if is_sound(id_, content) else None


class _Item(msgspec.Struct):
    id: str


class _Response(msgspec.Struct):
    id: str
    output: list[_Item]


def is_sound(id_: str, content: bytes) -> bool:
    """Whether one of us may have kept that."""
    try:
        response = msgspec.json.decode(msgspec.json.decode(content, type=Stored).response, type=_Response)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return id_.rpartition("/")[2] == response.id


def _note(ids: dict[str, None], id_: str) -> None:
    ids[id_] = None
    if len(ids) > MOST_UNTOLD:
        del ids[next(iter(ids))]
