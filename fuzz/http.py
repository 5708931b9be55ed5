"""An HTTP answer from a server: however it is cut into pieces, its head and body are the same, or it is refused."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from callgate.wire.framing import Head, NotHttp, read_head

EXPECTED: tuple[type[BaseException], ...] = (NotHttp,)
_END = b"\r\n\r\n"


def seeds() -> Iterable[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n4;a=b\r\n0123\r\n0\r\nX: y\r\n\r\n"
    yield b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n"
    yield b"HTTP/1.1 204 No Content\r\n\r\n"


def one_input(data: bytes) -> str | None:
    start, end, body = data.partition(_END)
    if not end:
        return "no head"
    head = read_head(start)
    whole = _read(head, [body])
    for size in (1, 3, 7, len(body) // 2 + 1):
        cuts = [*range(0, len(body), size), len(body)]
        assert _read(head, [body[at:to] for at, to in pairwise(cuts)]) == whole, f"in pieces of {size} it is another"
    is_whole = whole is not None and whole[1]
    return f"{type(head.new_framing()).__name__}, {'whole' if is_whole else 'open or refused'}"


def _read(head: Head, pieces: Iterable[bytes]) -> tuple[bytes, bool] | None:
    """The body, and whether it is whole; none, if it is refused or something comes behind its end."""
    framing, body = head.new_framing(), b""
    try:
        for piece in pieces:
            body += framing.feed(piece)
    except NotHttp:
        return None
    return None if framing.left_over else (body, framing.is_over)
