"""A client's connection: requests are read from it, bounded in size and time, and answered one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import httptools

from callgate.gateway.asgi import WHOLE, Header, Scope
from callgate.gateway.serving.deadline import Deadline
from callgate.gateway.serving.request import Request

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

MOST_HEAD_BYTES = 256 << 10
"""Of a head, or of trailers."""
MOST_WAITING = 16
"""Requests that a client may send before it has the answer to its first."""
LINGER_SECONDS = 5
"""For the rest of a body that nobody wants, before it is closed: who still sends wouldn't see the answer."""
_REFUSED = b"HTTP/1.1 %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_BAD = _REFUSED % b"400 Bad Request"
_LATE = _REFUSED % b"408 Request Timeout"
_LONG = _REFUSED % b"431 Request Header Fields Too Large"
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_NOTED = frozenset({b"expect", b"host"})
_EXTENSIONS: dict[str, dict[str, Any]] = {WHOLE: {}}


class Connection(asyncio.Protocol):
    """For uvicorn, whose own waits for heads for ever, and takes longer for each request.

    A head has `head_seconds`, from its first byte, and the first one from the start of the connection; 0: as many as it
    takes.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        head_seconds: float,
    ) -> None:
        self.app = config.loaded_app
        self.loop = _loop or asyncio.get_running_loop()
        self.transport = cast("asyncio.Transport", None)
        self.full: asyncio.Event | None = None
        """Set when more may be written. There is one only while nothing may."""
        self._state = server_state
        self._app_state = app_state
        self._head_seconds = head_seconds
        self._idle_seconds = config.timeout_keep_alive
        self._deadline = Deadline(self.loop, lambda: self._refuse(self._last_word))
        self._last_word = b""
        """What the client is told when it has passed."""
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": config.asgi_version, "spec_version": "2.3"},
            "root_path": "",
            "extensions": _EXTENSIONS,
        }
        """What all requests have in common."""
        self._requests: deque[Request] = deque()
        """Those that have no answer yet. The first of them is being answered."""
        self._arriving: Request | None = None
        """Whose body is being read."""
        self._is_between = True
        """Nothing of the next request has come."""
        self._is_in_head = False
        self._gets_on = False
        """More has come than some of a head, or of trailers."""
        self._head_bytes = 0
        self._url = b""
        self._headers: list[Header] = []
        self._has_host = False
        self._expects_word = False
        self._lingers = False
        self._framing = b""
        """Headers of a body that the parser won't read."""
        self._is_in_known_head = False
        self._reads = True

    @property
    def more_headers(self) -> Iterable[Header]:
        """For every answer."""
        return self._state.default_headers

    # --- as asyncio has it ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._state.connections.add(cast("Any", self))
        self._scope |= {
            "server": _address(transport.get_extra_info("sockname")),
            "client": _address(transport.get_extra_info("peername")),
            "scheme": "https" if transport.get_extra_info("sslcontext") else "http",
        }
        self._wait(self._head_seconds, _LATE)

    def connection_lost(self, _: Exception | None) -> None:
        self._state.connections.discard(cast("Any", self))
        self._deadline.end()
        self._parser = None  # it holds us, and we it
        self.resume_writing()
        for request in self._requests:
            request.lose()
        self._requests.clear()
        self._arriving = None

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            return
        was_between, self._gets_on = self._is_between, False
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self._refuse(_BAD)
            return
        if self._gets_on or self._is_between:
            self._head_bytes = 0
        else:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES:
                self._refuse(_LONG)
                return
        if self._requests:
            self._deadline.clear()
        elif self._lingers:
            pass
        elif self._is_between:
            if not was_between:
                self._wait(self._idle_seconds, b"")
        elif was_between or (self._is_in_head and self._gets_on):
            self._wait(self._head_seconds, _LATE)

    def _parse(self, data: bytes) -> None:
        """Clients may propose another protocol, and nobody has to agree. The parser thinks that we do, and leaves even
        the request's body to it: so another one is told how that is framed, and reads on.
        """
        while self._parser is not None:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as proposal:
                data = data[proposal.args[0] :]
                if framing := self._framing:
                    self._framing, self._is_in_known_head = b"", True
                    self._parser = httptools.HttpRequestParser(self)
                    self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n" % framing)
                    self._is_in_known_head = False
            else:
                return

    def pause_writing(self) -> None:
        self.full = self.full or asyncio.Event()
        self._see_that_it_reads()

    def resume_writing(self) -> None:
        if self.full is not None:
            self.full.set()
            self.full = None

    def shutdown(self) -> None:
        """As uvicorn has it: no more requests after the one that is being answered."""
        if self._requests:
            self._requests[0].keep_alive = False
        else:
            self.close()

    def close(self) -> None:
        """When what was written is read."""
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self._see_that_it_reads()

    def _see_that_it_reads(self, left_before: int | None = None) -> None:
        """A client that reads nothing for as long as it might have been idle is cut off."""
        left = self.transport.get_write_buffer_size()
        if self.full is None and not self.transport.is_closing():
            return
        if left == left_before:
            self.transport.abort()
        elif left:
            self.loop.call_later(self._idle_seconds, self._see_that_it_reads, left)

    # --- as the parser has it ---

    def on_message_begin(self) -> None:
        if self._is_in_known_head:
            return
        self._is_between = False
        self._is_in_head = self._gets_on = True
        self._url, self._headers, self._has_host, self._expects_word = b"", [], False, False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_in_head:  # a trailer, or what is known
            return
        name = name.lower()
        if name in _NOTED:
            self._note(name, value)
        self._headers.append((name, value))

    def _note(self, name: bytes, value: bytes) -> None:
        if name == b"expect":
            self._expects_word = value.lower() == b"100-continue"
        elif self._has_host:
            raise httptools.HttpParserError("it is for two hosts")
        else:
            self._has_host = True

    def on_headers_complete(self) -> None:
        if self._is_in_known_head:
            return
        self._is_in_head = False
        parser = cast("httptools.HttpRequestParser", self._parser)
        if parser.should_upgrade():
            lines = (b"%b: %b\r\n" % header for header in self._headers if header[0] in _FRAMING)
            self._framing = b"".join(lines)
        version = parser.get_http_version()
        path, query = _parted(self._url)
        scope: Scope = {
            **self._scope,
            "http_version": version,
            "method": parser.get_method().decode("ascii"),
            "path": unquote(path) if "%" in path else path,
            "raw_path": path.encode("ascii"),
            "query_string": query,
            "headers": self._headers,
            "state": self._app_state.copy(),
        }
        keep_alive = version != "1.0" and parser.should_keep_alive()
        request = self._arriving = Request(self, scope, keep_alive=keep_alive, expects_word=self._expects_word)
        self._requests.append(request)
        if len(self._requests) == 1:
            self._start(request)
        elif len(self._requests) > MOST_WAITING:
            self._pause_reading()

    def on_body(self, body: bytes) -> None:
        self._gets_on = True
        if (request := self._arriving) is not None and not request.is_over and request.feed(body):
            self._pause_reading()

    def on_message_complete(self) -> None:
        if self._framing:
            return
        self._is_between = True
        if (request := self._arriving) is not None:
            request.end()
            self._arriving = None
        if self._lingers:
            self.close()

    # --- one after the other ---

    def _start(self, request: Request) -> None:
        task = self.loop.create_task(request.run())
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def answered(self, request: Request) -> None:
        """Whole."""
        self._state.total_requests += 1
        self._requests.popleft()
        if not request.keep_alive:
            if request is not self._arriving:
                self.close()
                return
            self._lingers = True
        if self.transport.is_closing():
            return
        self.resume_reading()
        if self._lingers:
            self._wait(LINGER_SECONDS, b"")
        elif self._requests:
            self._start(self._requests[0])
        elif self._is_between:
            self._wait(self._idle_seconds, b"")
        else:
            self._wait(self._head_seconds, _LATE)

    def resume_reading(self) -> None:
        if not self._reads and len(self._requests) <= MOST_WAITING:
            self._reads = True
            self.transport.resume_reading()

    def _pause_reading(self) -> None:
        if self._reads:
            self._reads = False
            self.transport.pause_reading()

    def _wait(self, seconds: float, last_word: bytes) -> None:
        """For more, and no longer."""
        self._last_word = last_word
        self._deadline.set(seconds)

    def _refuse(self, answer: bytes) -> None:
        """What comes next, and all after it: where one request ends and the next begins can't be told any more."""
        self._parser = None
        broken, self._arriving = self._arriving, None
        if broken is not None:
            if broken in self._requests:
                self._requests.remove(broken)
                broken.lose()
            answer = b"" if broken.has_begun else answer
        if self._requests and not self._lingers:
            self._requests[-1].keep_alive = False
        elif not self.transport.is_closing():
            self.transport.write(answer)
            self.close()


def _address(known: object) -> tuple[str, int] | None:
    """A socket of a file system has none."""
    return (str(known[0]), int(known[1])) if isinstance(known, tuple) and len(known) > 1 else None


def _parted(url: bytes) -> tuple[str, bytes]:
    """Its path and its query. Raises: HttpParserError, ValueError."""
    if not url.startswith(b"/"):  # whole, as proxies are sent it
        parsed = httptools.parse_url(url)
        return (parsed.path or b"/").decode("ascii"), parsed.query or b""
    path, _, query = url.partition(b"#")[0].partition(b"?")
    return path.decode("ascii"), query
