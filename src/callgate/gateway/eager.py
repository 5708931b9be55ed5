"""What comes next out of a stream, and what to do before one has to wait for it."""

from __future__ import annotations

import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, TypeVar

from callgate.gateway.asgi import Exchange

MOST_AT_ONCE = 64 << 10
"""Bytes that are sent together."""

T = TypeVar("T")


class Outgoing:
    """Pieces of an answer that are to be sent, together where they are there together: each takes the kernel as long
    as it takes us to make it.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._send = exchange.send
        self._pieces: list[bytes] = []
        self._size = 0

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

    async def flush(self) -> None:
        if pieces := self._pieces:
            self._pieces, self._size = [], 0
            body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            await self._send({"type": "http.response.body", "body": body, "more_body": True})


@types.coroutine
def next_or_none(
    stream: AsyncGenerator[T, None], before_waiting: Callable[[], Coroutine[Any, Any, None]]
) -> Generator[Any, Any, T | None]:
    """The next of `stream`, or nothing at its end. `before_waiting` is done if it isn't there yet, and only then: so
    that what was made of all that is there can be sent at once, and nothing that is there ever waits.
    """
    step: Any = anext(stream)
    try:
        waits = step.send(None)
    except StopIteration as found:
        return found.value  # type: ignore[no-any-return]
    except StopAsyncIteration:
        return None
    problem: BaseException | None = None
    try:
        yield from before_waiting().__await__()
    except BaseException as error:  # noqa: BLE001 - the stream is in the middle of a step, and has to hear of it
        problem = error
    while True:
        try:
            if problem is None:
                # What the stream waits for goes to the event loop as if we weren't here, and so does what comes back.
                try:
                    yield waits
                except BaseException as error:  # noqa: BLE001
                    problem = error
                    continue
                waits = step.send(None)
            else:
                thrown, problem = problem, None
                waits = step.throw(thrown)
        except StopIteration as found:
            return found.value  # type: ignore[no-any-return]
        except StopAsyncIteration:
            return None
