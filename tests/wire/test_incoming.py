import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from callgate.vocabulary import StreamCut, Unreachable
from callgate.wire import HttpClient, Patience, post_stream
from tests.wire.raw_server import heard, read, talking
from tests.wire.server import serving


@asynccontextmanager
async def in_two_pieces(more: asyncio.Event) -> AsyncIterator[str]:
    """A server that says the second when there is to be `more`."""

    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.headers["Accept-Encoding"] == "identity"
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"first")
        await more.wait()
        await response.write(b"second")
        return response

    async with serving(("POST", "/x", handler)) as url:
        yield url


async def test_pieces_come_as_they_arrive(client: HttpClient) -> None:
    more = asyncio.Event()
    async with (
        in_two_pieces(more) as url,
        post_stream(client, f"{url}/x", b"{}", patience=Patience()) as incoming,
    ):
        assert await incoming.read() == b"first"
        more.set()
        assert await incoming.read() == b"second"
        assert await incoming.read() == b""


async def test_no_word_at_all_is_unreachable(client: HttpClient) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with talking(silent) as url:
        with pytest.raises(Unreachable, match=r"didn't answer within 0\.1 s"):
            await read(client, url)


async def test_headers_alone_are_no_word(client: HttpClient) -> None:
    async def headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        await reader.read()

    async with talking(headers) as url:
        with pytest.raises(Unreachable, match=r"said nothing within 0\.1 s") as caught:
            await read(client, url)
        assert "timeouts.first_byte" in str(caught.value.hint)


async def test_silence_in_the_middle_has_a_limit_of_its_own(client: HttpClient) -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok")
        await reader.read()

    async with talking(half) as url:
        with pytest.raises(StreamCut, match=r"fell silent for 0\.1 s in the middle") as caught:
            await read(client, url, Patience(5.0, 60.0, 0.1))
        assert "timeouts.between" in str(caught.value.hint)


async def test_a_reader_that_takes_its_time_is_no_silence(client: HttpClient) -> None:
    between = 0.05
    more = asyncio.Event()
    async with (
        in_two_pieces(more) as url,
        post_stream(client, f"{url}/x", b"{}", patience=Patience(5.0, 60.0, between)) as incoming,
    ):
        assert await incoming.read() == b"first"
        await asyncio.sleep(3 * between)  # longer than the server may be silent, but nobody asked it for more
        more.set()
        assert await incoming.read() == b"second"


@pytest.mark.parametrize("reset", [False, True])
async def test_breaking_off_is_a_cut(client: HttpClient, reset: bool) -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
        await writer.drain()
        if reset:
            writer.transport.abort()

    async with talking(breaks) as url:
        with pytest.raises(StreamCut, match="broke off in the middle"):
            await read(client, url)


async def test_a_client_that_is_closed_meanwhile_ends_it_in_order(client: HttpClient) -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok")
        await reader.read()

    async with talking(half) as url, post_stream(client, f"{url}/x", b"{}", patience=Patience()) as incoming:
        await incoming.read()
        await client.close()
        with pytest.raises(StreamCut):
            await incoming.read()
