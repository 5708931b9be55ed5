"""The front of a remote file, in order, for a reader that stops as soon as it has enough."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING

from callgate.vocabulary import BadAnswer
from callgate.wire.http import HttpClient
from callgate.wire.targets import shown, without_secrets

if TYPE_CHECKING:
    import aiohttp

BLOCK = 4_000_000
"""Bytes asked for in one request."""
BLOCK_SECONDS = 120.0
MAX_REQUESTS = 100

_PIECE = 256 << 10
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(?:(\d{1,18})|\*)", re.ASCII)


async def read_front(
    client: HttpClient, url: str, *, headers: Mapping[str, str] | None = None, block: int = BLOCK
) -> AsyncGenerator[bytes, None]:
    """The file's bytes from the first one on, in pieces as they arrive. Close it (`aclose`) when you have enough.

    Asks for one block at a time over one connection. A server that knows no ranges sends everything at once, and is cut
    off when the reader closes.

    Raises: Unreachable, BadStatus, BadAnswer.
    """
    from yarl import URL

    position = 0
    total: int | None = None
    tag: str | None = None
    own_headers = dict(headers or {})
    target: str | URL = url
    for _ in range(MAX_REQUESTS):
        start = position
        asked = {**own_headers, "Range": f"bytes={start}-{start + block - 1}", "Accept-Encoding": "identity"}
        if tag:
            asked["If-Range"] = tag
        async with client.open("GET", target, headers=asked, timeout=BLOCK_SECONDS, expect=(416,)) as response:
            if response.status == 416:
                return
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise BadAnswer(f"{shown(url)} is sent compressed, although plain bytes were asked for")
            if response.status != 206:
                if start:
                    raise BadAnswer(f"{shown(url)} changed while it was read", hint="try again")
                async for piece in response.content.iter_chunked(_PIECE):
                    yield piece
                return
            end, total = _range_of(response, url, start, block, total)
            async for piece in response.content.iter_chunked(_PIECE):
                position += len(piece)
                if position > end:
                    break
                yield piece
            if position != end:
                raise BadAnswer(f"{shown(url)} sent another number of bytes than it announced")
            tag = _strong_tag(response)
            # The next blocks are asked for where this one was found, and what is secret stays here.
            if response.url.origin() != URL(url).origin():
                target = response.url
                own_headers = without_secrets(own_headers)
        if end == total or (total is None and end - start < block):
            return
    raise BadAnswer(f"{shown(url)} sends its file in pieces that are too small")


def _range_of(
    response: aiohttp.ClientResponse, url: str, start: int, block: int, total: int | None
) -> tuple[int, int | None]:
    """Where the part in this answer ends, and the whole file, if the server says so."""
    given = response.headers.get("Content-Range", "")
    found = _CONTENT_RANGE.fullmatch(given.strip())
    if not found:
        raise BadAnswer(f"{shown(url)} doesn't say which part of the file it sent")
    first, last = int(found[1]), int(found[2])
    whole = int(found[3]) if found[3] else None
    if first != start or not start <= last < start + block or (whole is not None and last >= whole):
        raise BadAnswer(f"{shown(url)} was asked for the bytes from {start:,} on, and sent {first:,} to {last:,}")
    if total is not None and whole is not None and whole != total:
        raise BadAnswer(f"{shown(url)} changed while it was read", hint="try again")
    return last + 1, whole if whole is not None else total


def _strong_tag(response: aiohttp.ClientResponse) -> str | None:
    """Names this very version of the file; weak ones can't be used for ranges."""
    tag = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else None
