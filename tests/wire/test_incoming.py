import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from callgate.vocabulary import BadStatus, StreamCut, Unreachable
from callgate.wire import HttpClient, Patience, post_stream
from tests.wire.server import serving

SHORT = Patience(5.0, 0.1, 0.1)


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient() as client:
        yield client


async def read(client: HttpClient, url: str, patience: Patience = SHORT) -> list[bytes]:
    async with post_stream(client, f"{url}/x", b"{}", patience=patience) as incoming:
        pieces = []
        while piece := await incoming.read():
            pieces.append(piece)
        return pieces


@asynccontextmanager
async def talking(
    *talks: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """Speaks raw bytes: the first talk to the first that connects, the last to all after the others."""
    connections = iter(range(10**6))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talks[min(next(connections), len(talks) - 1)](reader, writer)
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def heard(reader: asyncio.StreamReader) -> bytes:
    await reader.readuntil(b"\r\n\r\n")
    return await reader.readexactly(2)


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_pieces_come_as_they_arrive(client: HttpClient) -> None:
    more = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.headers["Accept-Encoding"] == "identity"
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"first")
        await more.wait()
        await response.write(b"second")
        return response

    async with (
        serving(("POST", "/x", handler)) as url,
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

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"first")
        await more.wait()
        await response.write(b"second")
        return response

    async with (
        serving(("POST", "/x", handler)) as url,
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
