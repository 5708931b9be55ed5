"""One request of a client, as ASGI has it: what is received of it, and the answer that is sent."""

from __future__ import annotations

import asyncio
import http
import logging
from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

from callgate.gateway.asgi import WHOLE, Header, Scope

if TYPE_CHECKING:
    from callgate.gateway.serving.connection import Connection

log = logging.getLogger(__name__)

MOST_UNREAD = 64 << 10
"""Bytes of a body that wait for somebody to read them, before the client has to wait."""
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"
_FAILED = b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_LAST_CHUNK = b"0\r\n\r\n"
_FIRST_LINES = {each.value: b"HTTP/1.1 %d %b\r\n" % (each.value, each.phrase.encode()) for each in http.HTTPStatus}
_WITHOUT_BODY = (204, 304)


class Request:
    __slots__ = (
        "_connection",
        "_expects_word",
        "_has_news",
        "_head",
        "_is_chunked",
        "_left",
        "_more",
        "_news",
        "_pieces",
        "_size",
        "has_begun",
        "is_gone",
        "is_over",
        "keep_alive",
        "scope",
    )

    def __init__(self, connection: Connection, scope: Scope, *, keep_alive: bool, expects_word: bool) -> None:
        """`expects_word`: the client sends the body only if it is told to."""
        self.scope = scope
        self.keep_alive = keep_alive
        self.is_gone = False
        """The client has hung up."""
        self.has_begun = False
        """Its answer, that is."""
        self.is_over = False
        self._connection = connection
        self._expects_word = expects_word
        self._pieces: list[bytes] = []
        self._size = 0
        self._more = True
        self._has_news = False
        self._news: asyncio.Event | None = None
        """Only while somebody waits for some."""
        self._head = b""
        """Not sent yet: it goes along with what follows, which is one call of the kernel less."""
        self._is_chunked = False
        self._left: int | None = None
        """Of the length that was announced."""

    async def run(self) -> None:
        try:
            await self._connection.app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            self._fail()
            raise
        except Exception as error:  # noqa: BLE001 - the application has told of it
            log.debug("an answer has no end (%s)", type(error).__name__)
            self._fail()
        else:
            if not self.is_over:
                self._fail()

    def _fail(self) -> None:
        """The client sees that the answer has no end."""
        if self.is_gone or self.is_over:
            return
        if not self.has_begun:
            self._connection.transport.write(_FAILED)
        self._flush()
        self._connection.close()

    # --- what is received ---

    def feed(self, piece: bytes) -> bool:
        """Some of its body; says whether that is enough for now."""
        self._pieces.append(piece)
        self._size += len(piece)
        self._tell()
        return self._size > MOST_UNREAD

    def end(self) -> None:
        """Of its body."""
        self._more = False
        self._tell()

    def lose(self) -> None:
        """The client."""
        self.is_gone = True
        self._tell()

    def _tell(self) -> None:
        self._has_news = True
        if self._news is not None:
            self._news.set()
            self._news = None

    async def receive(self) -> MutableMapping[str, Any]:
        if self._expects_word and not self.has_begun and not self.is_gone:
            self._expects_word = False
            self._connection.transport.write(_GO_ON)
        while not self._has_news:
            self._connection.resume_reading()
            self._news = self._news or asyncio.Event()
            await self._news.wait()
        if self.is_gone or self.is_over:
            return {"type": "http.disconnect"}
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._size, self._has_news = 0, False
        return {"type": "http.request", "body": body, "more_body": self._more}

    # --- what is sent ---

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Raises: RuntimeError, if it makes no sense."""
        while (full := self._connection.full) is not None and not self.is_gone:
            await full.wait()
        if self.is_gone:
            return
        kind = message["type"]
        if self.is_over or self.has_begun != (kind == "http.response.body"):
            raise RuntimeError(f"{kind!r} isn't to be sent now")
        if kind == "http.response.body":
            self._say(message.get("body", b""), more=message.get("more_body", False))
            return
        self._begin(message["status"], message.get("headers", ()))
        if kind == WHOLE:
            self._say(message["body"], more=False)
        else:
            self._connection.loop.call_soon(self._flush)

    def _begin(self, status: int, headers: Iterable[Header]) -> None:
        lines = [_FIRST_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status]
        for name, value in (*self._connection.more_headers, *headers):
            if name == b"content-length":
                self._left = int(value)
            elif name == b"connection":
                self.keep_alive = self.keep_alive and b"close" not in value.lower()
                continue
            lines.append(b"%b: %b\r\n" % (name, value))
        if self._expects_word and self._more:
            self.keep_alive = False  # whether the client sends the body all the same is up to it
        if status in _WITHOUT_BODY:
            self._left = 0
        elif self._left is None and self.scope["method"] != "HEAD":
            if self.scope["http_version"] == "1.0":
                self.keep_alive = False  # the end of the connection is the end of the answer
            else:
                self._is_chunked = True
                lines.append(b"transfer-encoding: chunked\r\n")
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        head = b"".join(lines)
        if not head.count(b"\r") == head.count(b"\n") == len(lines):
            raise RuntimeError("a header has more than one line")
        self._head = head + b"\r\n"
        self.has_begun = True

    def _say(self, body: bytes, *, more: bool) -> None:
        if self.scope["method"] == "HEAD":
            body = b""
        elif self._is_chunked:
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if not more:
                body += _LAST_CHUNK
        elif self._left is not None:
            self._left -= len(body)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError("the answer isn't as long as was announced")
        head, self._head = self._head, b""
        if head or body:
            self._connection.transport.write(head + body if head else body)
        if not more:
            self.is_over = True
            self._tell()
            self._connection.answered(self)

    def _flush(self) -> None:
        if self._head and not self.is_gone:
            head, self._head = self._head, b""
            self._connection.transport.write(head)
