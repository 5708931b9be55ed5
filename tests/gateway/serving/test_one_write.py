import asyncio
from typing import Any, cast

from callgate.gateway.serving.one_write import OneWrite

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"


class Written:
    def __init__(self) -> None:
        self.all: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.all.append(data)

    def close(self) -> None:
        self.all.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.all


def written() -> tuple[Written, Any]:
    below = Written()
    return below, OneWrite(cast("asyncio.Transport", below), asyncio.get_running_loop())


async def test_a_head_goes_with_what_is_written_next() -> None:
    below, transport = written()
    transport.write(HEAD)
    transport.write(b"body")
    await asyncio.sleep(0)
    assert below.all == [HEAD + b"body"]


async def test_a_head_alone_goes_as_soon_as_nothing_else_is_done() -> None:
    below, transport = written()
    transport.write(HEAD)
    assert below.all == []
    await asyncio.sleep(0)
    assert below.all == [HEAD]


async def test_a_head_goes_before_the_end() -> None:
    below, transport = written()
    transport.write(HEAD)
    transport.close()
    await asyncio.sleep(0)
    assert below.all == [HEAD, "closed"]
    assert transport.is_closing()


async def test_what_is_no_head_goes_at_once() -> None:
    below, transport = written()
    transport.write(b"4\r\nbody\r\n")
    assert below.all == [b"4\r\nbody\r\n"]
