"""What goes over the wire, byte by byte, for somebody who wants to see it: the question, and the answer as it came.

    with overhearing() as exchanges:
        …  # ask a model
    exchanges[-1].received

Headers aren't kept, for there are keys in them. What is said in other tasks isn't heard.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_BYTES = 256 << 10
"""Of an answer."""
MOST_EXCHANGES = 16
"""The newest."""


class Exchange:
    """One question and its answer, as far as it has come."""

    __slots__ = ("received", "sent", "status", "url", "was_longer")

    def __init__(self, url: str, sent: bytes) -> None:
        self.url = url
        """As it may be shown."""
        self.sent = sent
        self.status: int | None = None
        self.received = bytearray()
        self.was_longer = False
        """There was more of it than is kept."""

    def hear(self, piece: bytes) -> None:
        self.received += piece[: MOST_BYTES - len(self.received)]
        self.was_longer = self.was_longer or len(self.received) == MOST_BYTES


_listening: ContextVar[list[Exchange] | None] = ContextVar("callgate_overhearing", default=None)


@contextmanager
def overhearing() -> Iterator[list[Exchange]]:
    """Fills the list while it lasts."""
    exchanges: list[Exchange] = []
    token = _listening.set(exchanges)
    try:
        yield exchanges
    finally:
        _listening.reset(token)


def overheard(url: str, sent: bytes) -> Exchange | None:
    """Where to put the answer to what was just sent; `None` if nobody listens."""
    exchanges = _listening.get()
    if exchanges is None:
        return None
    exchanges.append(Exchange(url, sent))
    del exchanges[:-MOST_EXCHANGES]
    return exchanges[-1]
