import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from callgate.gateway.asgi import ClientGone, Exchange, Refused

Message = MutableMapping[str, Any]


def exchange(*messages: Message, length: bytes = b"2") -> Exchange:
    """Whose client sends these, and then nothing more."""
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    async def send(_: Message) -> None: ...

    return Exchange({"method": "POST", "path": "/", "headers": [(b"content-length", length)]}, receive, send)


BODY = {"type": "http.request", "body": b"{}", "more_body": False}
SOME = {"type": "http.request", "body": b"{", "more_body": True}


@pytest.mark.parametrize("length", [b"2", b"0" * 5000 + b"2", b"nonsense"])
async def test_a_length_may_be_written_as_it_will(length: bytes) -> None:
    assert await exchange(BODY, length=length).body(most=10, seconds=60) == b"{}"


@pytest.mark.parametrize("length", [b"11", b"0" * 5000 + b"11", b"9" * 5000])
async def test_what_is_announced_as_too_long_isnt_read(length: bytes) -> None:
    with pytest.raises(Refused):
        await exchange({**BODY, "type": "http.disconnect"}, length=length).body(most=10, seconds=60)


async def test_whoever_stops_in_the_middle_of_what_is_passed_on_counts_as_gone() -> None:
    stalled = exchange(SOME)
    pieces = stalled.pieces(seconds=0.05)
    assert await anext(pieces) == b"{"
    with pytest.raises(ClientGone):
        await anext(pieces)
    assert stalled.is_gone
