"""One exchange with a client, in the words of ASGI: what arrives, bounded, and what is sent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from functools import cache
from typing import Any

import msgspec

from callgate import __version__
from callgate.gateway.dialect import Extra, Failure
from callgate.gateway.eager import before
from callgate.gateway.odd_json import read_oddly
from callgate.vocabulary import UsageError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]

JSON = "application/json"
WHOLE = "callgate.whole"
"""An answer in one message, with `status`, `headers` and `body`: for servers that have it among their extensions."""
_OURS: tuple[Header, ...] = ((b"server", b"callgate"), (b"x-callgate", __version__.encode()))
_GATES = frozenset(
    {"messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "format"}
) | {
    "model",
    "n",
    "functions",
    "function_call",
    "response_format",
}
"""What the gate decides on, under every name that a backend may know it by. No dialect lets it pass unread."""
MOST_DROPPED = 512 << 20
_MOST_DIGITS = 20
DROPPING_SECONDS = 20.0
_MISSING = re.compile("Object missing required field `(.+?)`")


class Refused(Exception):
    """A request that isn't answered as it is."""

    def __init__(self, failure: Failure, headers: Iterable[Header] = ()) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.headers = tuple(headers)


class ClientGone(Exception):
    """Nobody is there any more to be answered."""


class Exchange:
    """A request and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope.get("query_string", b"")
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self.receive = receive
        self.send = send
        self._takes_whole = WHOLE in scope.get("extensions", ())
        self.more_headers: list[Header] = []
        """For every answer to this request."""
        self.status: int | None = None
        """Of the answer, once it has begun."""
        self.is_over = False
        self.is_gone = False
        """The client went away before that."""
        self.broken_by: str | None = None
        """What ended an answer that had begun."""

    async def body(self, *, most: int, seconds: float) -> bytes:
        """Raises: Refused, if it is too long or takes too long; ClientGone."""
        announced = self.headers.get("content-length", "").lstrip("0")[:_MOST_DIGITS]
        if announced.isdecimal() and int(announced) > most:
            await self._drop(int(announced))
            raise _too_long(most)
        pieces: list[bytes] = []
        size, more = 0, True
        try:
            end = asyncio.get_running_loop().time() + seconds if seconds else None
            while more:
                message = await before(end, self.receive())
                if message["type"] == "http.disconnect":
                    raise ClientGone
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                more = message.get("more_body", False)
                if size > most:
                    await self._drop(MOST_DROPPED if more else 0)
                    raise _too_long(most)
        except TimeoutError:
            failure = Failure(status=408, kind="too_slow", message=f"the request didn't arrive within {seconds:g} s")
            raise Refused(failure, [(b"connection", b"close")]) from None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def _drop(self, size: int) -> None:
        """The rest of a body, if it isn't long: many clients read nothing before all is written, and would see a broken
        connection instead of an answer. Those that ask first whether to send it needn't.
        """
        if not 0 < size <= MOST_DROPPED or "expect" in self.headers:
            return
        end = asyncio.get_running_loop().time() + DROPPING_SECONDS
        more = True
        try:
            while more and size > 0:
                message = await before(end, self.receive())
                size -= len(message.get("body", b""))
                more = message.get("more_body", False)
        except TimeoutError:
            pass

    async def pieces(self, *, seconds: float) -> AsyncIterator[bytes]:
        """Of the body, as they arrive, however many: within `seconds` each, or else whoever sends counts as gone.

        Raises: ClientGone.
        """
        loop = asyncio.get_running_loop()
        while True:
            try:
                message = await before(loop.time() + seconds if seconds else None, self.receive())
            except TimeoutError:
                message = {"type": "http.disconnect"}
            if message["type"] == "http.disconnect":
                self.is_gone = True  # for what is raised here may come out elsewhere as something else
                raise ClientGone
            if piece := message.get("body", b""):
                yield piece
            if not message.get("more_body", False):
                return

    async def start(self, status: int, content_type: str, headers: Iterable[Header] = ()) -> None:
        self.status = status
        sent = self._headers(content_type, headers)
        await self.send({"type": "http.response.start", "status": status, "headers": sent})

    def _headers(self, content_type: str, headers: Iterable[Header]) -> list[Header]:
        return [(b"content-type", content_type.encode()), *_OURS, *self.more_headers, *headers]

    async def piece(self, content: bytes) -> None:
        await self.send({"type": "http.response.body", "body": content, "more_body": True})

    async def end(self, content: bytes = b"") -> None:
        self.is_over = True
        await self.send({"type": "http.response.body", "body": content, "more_body": False})

    async def break_off(self, content: bytes, kind: str) -> None:
        """An end that says what went wrong."""
        self.broken_by = kind
        await self.end(content)

    async def answer(
        self, content: bytes, *, status: int = 200, content_type: str = JSON, headers: Iterable[Header] = ()
    ) -> None:
        """All at once."""
        headers = ((b"content-length", b"%d" % len(content)), *headers)
        if self.method == "HEAD":
            content = b""
        if self._takes_whole:
            self.status, self.is_over = status, True
            sent = self._headers(content_type, headers)
            await self.send({"type": WHOLE, "status": status, "headers": sent, "body": content})
        else:
            await self.start(status, content_type, headers)
            await self.end(content)


def _too_long(most: int) -> Refused:
    return Refused(Failure(status=413, kind="too_large", message=f"the request has more than {most:,} bytes"))


def decoded(content: bytes, type_: type, *, nesting: int) -> tuple[Any, Extra]:
    """The record in a body, and what else is in it. Raises: UsageError, which says what is wrong and where."""
    try:
        raw = msgspec.json.decode(content)
    except RecursionError:
        raise UsageError(f"the request is nested more than {nesting} deep") from None
    except (msgspec.DecodeError, ValueError) as error:
        raw = read_oddly(content, error)
    if not isinstance(raw, dict):
        raise UsageError("the request is no JSON object")
    # Only what has many brackets can be deep, and few have: to count them takes no time.
    if content.count(b"{") + content.count(b"[") > nesting and is_deeper(raw, nesting):
        raise UsageError(f"the request is nested more than {nesting} deep")
    try:
        record: Any = msgspec.convert(raw, type_)
    except msgspec.ValidationError as error:
        try:
            record = msgspec.convert(_with_whole_numbers(raw), type_)
        except msgspec.ValidationError:
            raise UsageError(f"the request isn't as it should be: {error}", param=_place_in(str(error))) from None
    known = _known(type_)
    return record, {name: value for name, value in raw.items() if name not in known}


def _place_in(complaint: str) -> str | None:
    """What msgspec says where something is wrong, as clients know such places: `messages[0].role`."""
    place = complaint.partition(" - at `$")[2].rstrip("`")
    missing = _MISSING.match(complaint)
    return f"{place}.{missing[1] if missing else ''}".strip(".") or None


@cache
def _known(type_: type) -> frozenset[str]:
    return _GATES.union(type_.__struct_fields__)  # type: ignore[attr-defined]


def is_deeper(value: object, nesting: int) -> bool:
    """Whether objects and lists are more than `nesting` deep in each other."""
    level: list[object] = [value]
    for _ in range(nesting):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in inner if isinstance(each, dict | list)]


def _with_whole_numbers(value: object) -> object:
    """`256.0` is an integer for JSON, and for some clients."""
    match value:
        case dict():
            return {name: _with_whole_numbers(inner) for name, inner in value.items()}
        case list():
            return [_with_whole_numbers(inner) for inner in value]
        case float() if value.is_integer():
            return int(value)
    return value
