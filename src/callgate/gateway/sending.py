"""Pieces of an answer on their way out."""

from __future__ import annotations

from collections.abc import Awaitable

from callgate.gateway.asgi import Exchange

MOST_AT_ONCE = 64 << 10
"""Bytes that are sent together."""


class Outgoing:
    """Pieces of an answer that are to be sent, together where they are there together: each takes the kernel as long
    as it takes us to make it.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._send = exchange.send
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def mark(self) -> object:
        """Another one whenever something was sent."""
        return self._pieces

    def add(self, piece: bytes) -> int:
        """How many bytes there are."""
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)
        return self._size

    def rest(self, end: bytes) -> bytes:
        """What wasn't sent yet, and the end."""
        pieces, self._pieces, self._size = self._pieces, [], 0
        return b"".join((*pieces, end))

    def flush(self) -> Awaitable[None] | None:
        """To be awaited, if there is something to send."""
        if not (pieces := self._pieces):
            return None
        self._pieces, self._size = [], 0
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return self._send({"type": "http.response.body", "body": body, "more_body": True})
