import asyncio

import pytest
from aiohttp import web

from callgate.vocabulary import BadStatus, Unreachable
from callgate.wire import HttpClient, Patience, post_stream
from tests.wire.raw_server import ANSWER, heard, read, talking
from tests.wire.server import serving


async def test_leaving_early_closes_the_connection(client: HttpClient) -> None:
    left = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok")
        assert await reader.read() == b""
        left.set()

    async with talking(endless) as url:
        async with post_stream(client, f"{url}/x", b"{}", patience=Patience()) as incoming:
            assert await incoming.read() == b"ok"
        await asyncio.wait_for(left.wait(), 10)


async def test_a_kept_connection_that_proves_closed_is_replaced_once(client: HttpClient) -> None:
    """As a server does that closes idle connections just when the next request is on its way."""
    asked = []

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await heard(reader))
        writer.write(ANSWER)
        await writer.drain()
        asked.append(await heard(reader))

    async def again(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await heard(reader))
        writer.write(ANSWER)
        await writer.drain()

    async with talking(once, again) as url:
        assert await read(client, url, Patience()) == [b"ok"]
        assert await read(client, url, Patience()) == [b"ok"]
    assert len(asked) == 3


async def test_a_kept_connection_that_is_just_being_closed_is_replaced(client: HttpClient) -> None:
    """The other side has hung up, and the event loop has yet to tell."""

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(ANSWER)
        await writer.drain()
        await reader.read()

    async with talking(once, once) as url:
        assert await read(client, url, Patience()) == [b"ok"]
        ((kept,),) = client.connections._idle.values()
        assert kept._transport is not None
        kept._transport.close()
        assert not kept.is_gone
        assert await read(client, url, Patience()) == [b"ok"]


async def test_a_new_connection_that_is_closed_is_not_tried_again(client: HttpClient) -> None:
    asked = []

    async def crashes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await heard(reader))

    async with talking(crashes) as url:
        with pytest.raises(Unreachable, match="closed the connection without an answer"):
            await read(client, url, Patience())
    assert len(asked) == 1


async def test_nothing_is_asked_again_once_a_byte_was_heard(client: HttpClient) -> None:
    asked = []

    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await heard(reader))
        writer.write(ANSWER)
        await writer.drain()
        asked.append(await heard(reader))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Le")
        await writer.drain()

    async with talking(half) as url:
        assert await read(client, url, Patience()) == [b"ok"]
        with pytest.raises(Unreachable):
            await read(client, url, Patience())
    assert len(asked) == 2


async def test_a_bad_status_comes_before_any_piece(client: HttpClient) -> None:
    async def refuses(request: web.Request) -> web.Response:
        return web.Response(status=400, text="no")

    async with serving(("POST", "/x", refuses)) as url:
        with pytest.raises(BadStatus) as caught:
            await read(client, url)
        assert (caught.value.status, caught.value.body) == (400, "no")
