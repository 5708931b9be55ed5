"""Where an HTTP answer's head ends, and where its body does. Pure; whatever is odd is refused, not guessed at."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple, Protocol

LARGEST_HEAD = 64 << 10
_LONGEST_SIZE = 256
"""Bytes of the line that tells a chunk's size, with whatever a server adds to it."""
_LARGEST_TRAILERS = 16 << 10
_STATUS = re.compile(rb"HTTP/1\.([01]) (\d{3})(?: [^\r\n\0]*)?")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_LINE_END = b"\r\n"
_SIZES = {b"%x" % size: size for size in range(1, 4096)}
"""Of the usual chunks: looked up in a third of the time that it takes to read them."""


class NotHttp(Exception):
    """What came is no HTTP/1.1, or not as it should be."""


class Head(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By their names in small letters."""
    is_kept: bool
    """The server means to go on with the connection."""
    content_type: str
    """In small letters, and without its parameters."""
    new_framing: Callable[[], Framing]
    """For the body behind it."""


class Framing(Protocol):
    """Knows where a body ends."""

    is_over: bool
    left_over: bytes
    """What came behind the end, where nothing should."""

    def feed(self, data: bytes) -> bytes:
        """What of the body is in `data`. Raises: NotHttp."""
        ...

    def close(self) -> None:
        """The server has hung up. Raises: NotHttp, if that isn't how this body ends."""
        ...


@lru_cache(maxsize=64)
def read_head(data: bytes) -> Head:
    """Of what comes before the empty line. Raises: NotHttp, also if it tells in no known way how the body ends."""
    first, *lines = data.split(_LINE_END)
    found = _STATUS.fullmatch(first)
    if found is None:
        raise NotHttp("there is no status")
    headers: dict[str, str] = {}
    for line in lines:
        raw_name, colon, raw_value = line.partition(b":")
        if not colon or not _NAME.fullmatch(raw_name) or b"\r" in raw_value or b"\n" in raw_value:
            raise NotHttp("a header isn't one")
        name, value = raw_name.decode("ascii").lower(), raw_value.strip(b" \t").decode("utf-8", "replace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    said = headers.get("connection", "").lower()
    is_kept = "close" not in said if found[1] == b"1" else "keep-alive" in said
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    status = int(found[2])
    return Head(status, headers, is_kept, content_type, _framing_by(status, headers))


def _framing_by(status: int, headers: Mapping[str, str]) -> Callable[[], Framing]:
    """Raises: NotHttp, if the head tells in no known way how the body ends."""
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if status < 200 or status in (204, 304):
        return partial(Sized, 0)
    if coding is not None:
        if coding.lower() != "chunked" or length is not None:
            raise NotHttp("its body ends in two ways, or in an unknown one")
        return Chunked
    if length is None:
        return UntilClosed
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise NotHttp("its length is no number")
    return partial(Sized, int(length))


class Sized:
    """A body of so many bytes."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.is_over = size == 0
        self.left_over = b""

    def feed(self, data: bytes) -> bytes:
        if len(data) > self._left:
            if self.is_over:
                raise NotHttp("it says more than it was asked for")
            data, self.left_over = data[: self._left], data[self._left :]
        self._left -= len(data)
        self.is_over = self._left == 0
        return data

    def close(self) -> None:
        if not self.is_over:
            raise NotHttp("it broke off")


class UntilClosed:
    """A body that ends when the server hangs up."""

    def __init__(self) -> None:
        self.is_over = False
        self.left_over = b""

    def feed(self, data: bytes) -> bytes:
        return data

    def close(self) -> None:
        self.is_over = True


class Chunked:
    """A body in chunks, each with its size before it."""

    def __init__(self) -> None:
        self.is_over = False
        self.left_over = b""
        self._rest = b""
        """Of a line whose end hasn't come yet."""
        self._left = 0
        """Of the chunk that has begun."""
        self._line_end_is_due = False
        self._trailers: int | None = None
        """Bytes of them so far, once the last chunk has come."""

    def feed(self, data: bytes) -> bytes:
        if self.is_over:
            raise NotHttp("it says more than it was asked for")
        if self._rest:
            data, self._rest = self._rest + data, b""
        if self._trailers is not None:
            self._pass_over(data)
            return b""
        if not self._left and not self._line_end_is_due:
            # Most servers send one chunk at a time, and whole.
            end = data.find(_LINE_END, 0, _LONGEST_SIZE)
            size = _SIZES.get(data[:end])
            if size is not None and len(data) == end + size + 4 and data[-2:] == _LINE_END:
                return data[end + 2 : -2]
        pieces: list[bytes] = []
        at, left, known, find = 0, self._left, _SIZES, data.find
        while True:
            if left:
                piece = data[at : at + left]
                pieces.append(piece)
                at += len(piece)
                left -= len(piece)
                if left:
                    break
                self._line_end_is_due = True
            if self._line_end_is_due:
                if data[at : at + 2] != _LINE_END:
                    self._keep(data[at:], 1)
                    break
                self._line_end_is_due = False
                at += 2
            end = find(_LINE_END, at, at + _LONGEST_SIZE)
            if end < 0:
                self._keep(data[at:], _LONGEST_SIZE)
                break
            line = data[at:end]
            left = known.get(line, -1)
            if left < 0:
                left = _size_in(line)
            at = end + 2
            if not left:
                self._trailers = 0
                self._pass_over(data[at:])
                break
        self._left = left
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        if not self.is_over:
            raise NotHttp("it broke off")

    def _keep(self, rest: bytes, most: int) -> None:
        if len(rest) > most or (most == 1 and rest not in (b"", b"\r")):
            raise NotHttp("a chunk isn't as long as it says")
        self._rest = rest

    def _pass_over(self, data: bytes) -> None:
        """What comes behind the last chunk, up to an empty line."""
        assert self._trailers is not None
        while (end := data.find(_LINE_END)) > 0:
            self._trailers += end + 2
            data = data[end + 2 :]
        if self._trailers + (len(data) if end < 0 else 0) > _LARGEST_TRAILERS:
            raise NotHttp("its end doesn't come")
        if end == 0:
            self.is_over, self.left_over = True, data[2:]
        else:
            self._rest = data


def _size_in(line: bytes) -> int:
    found = _SIZE.fullmatch(line)
    if found is None:
        raise NotHttp("a chunk's size is no number")
    return int(found[1], 16)
