import asyncio
import gc
import os
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from callgate.vocabulary import BadAnswer, BadStatus, Unreachable, UsageError
from callgate.wire import HttpClient, Patience, connections, post_stream
from callgate.wire.framing import LARGEST_HEAD
from tests.wire.server import serving

SHORT = Patience(5.0, 5.0, 5.0)

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def saying(*answers: bytes, hangs_up: bool = False) -> AsyncIterator[tuple[str, list[int]]]:
    """Each question gets the next answer, on whatever connection; the list says which connection each came on."""
    came_on: list[int] = []
    left = iter(answers)
    opened = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        mine = opened
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))
                came_on.append(mine)
                writer.write(next(left))
                await writer.drain()
                if hangs_up:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", came_on


async def read(client: HttpClient, url: str, body: bytes = b"{}", headers: dict[str, str] | None = None) -> bytes:
    async with post_stream(client, f"{url}/x", body, patience=SHORT, headers=headers) as incoming:
        pieces = []
        while piece := await incoming.read():
            pieces.append(piece)
        assert incoming.is_over
        return b"".join(pieces)


def sized(body: bytes, *lines: str) -> bytes:
    return (
        b"".join(
            (
                b"HTTP/1.1 200 OK\r\n",
                *(f"{line}\r\n".encode() for line in lines),
                b"Content-Length: %d\r\n\r\n" % len(body),
            )
        )
        + body
    )


async def test_a_connection_is_kept_for_the_next_question() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    async with HttpClient() as client, saying(sized(b"one"), chunked, sized(b"three")) as (url, came_on):
        assert [await read(client, url) for _ in range(3)] == [b"one", b"ok", b"three"]
    assert came_on == [1, 1, 1]


@pytest.mark.parametrize(
    "answer",
    [
        sized(b"one", "Connection: close"),
        sized(b"one") + b"and more",
        b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\none",
    ],
)
async def test_a_connection_that_may_not_be_kept_is_not(answer: bytes) -> None:
    async with HttpClient() as client, saying(answer, sized(b"two")) as (url, came_on):
        assert await read(client, url) == b"one"
        assert await read(client, url) == b"two"
    assert came_on == [1, 2]


async def test_an_answer_without_a_length_ends_when_the_server_hangs_up() -> None:
    async with HttpClient() as client, saying(b"HTTP/1.1 200 OK\r\n\r\none", hangs_up=True) as (url, _):
        assert await read(client, url) == b"one"


async def test_word_that_it_will_take_a_while_is_no_answer() -> None:
    waits = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    async with HttpClient() as client, saying(waits + sized(b"one")) as (url, _):
        assert await read(client, url) == b"one"


@pytest.mark.parametrize(
    "answer",
    [
        b"220 mail.example.org ESMTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * LARGEST_HEAD,
    ],
)
async def test_what_is_no_http_is_a_bad_answer(answer: bytes) -> None:
    async with HttpClient() as client, saying(answer) as (url, _):
        with pytest.raises(BadAnswer, match="doesn't speak HTTP as we know it"):
            await read(client, url)


async def test_packed_answers_are_refused() -> None:
    async with HttpClient() as client, saying(sized(b"\x1f\x8b", "Content-Encoding: gzip")) as (url, _):
        with pytest.raises(BadAnswer, match="packs its answer"):
            await read(client, url)


async def test_headers_can_not_break_out_of_their_line() -> None:
    async with HttpClient() as client, saying() as (url, came_on):
        with pytest.raises(UsageError, match="line break") as caught:
            await read(client, url, headers={"Authorization": "Bearer one\r\nHost: two"})
        assert "two" not in str(caught.value)
    assert came_on == []


async def test_a_body_of_any_size_is_sent_whole() -> None:
    async def echoes(request: web.Request) -> web.Response:
        return web.Response(body=str(len(await request.read())).encode())

    async with HttpClient() as client, serving(("POST", "/x", echoes)) as url:
        assert await read(client, url, b"x" * 300_000) == b"300000"


async def test_a_server_waits_for_a_reader_that_takes_its_time() -> None:
    size = 64 << 20
    sent = 0

    async def floods(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        response.content_length = size
        await response.prepare(request)
        while sent < size:
            await response.write(b"x" * (1 << 20))
            sent += 1 << 20
        return response

    async with (
        HttpClient() as client,
        serving(("POST", "/x", floods)) as url,
        post_stream(client, f"{url}/x", b"{}", patience=SHORT) as incoming,
    ):
        received = len(await incoming.read())
        before = -1
        while before != sent:  # until it can't send any more
            before = sent
            await asyncio.sleep(0.05)
        assert sent < size
        while piece := await incoming.read():
            received += len(piece)
        assert received == size


async def test_many_at_once_have_a_connection_each() -> None:
    waiting = asyncio.Barrier(150)

    async def answers(request: web.Request) -> web.Response:
        async with asyncio.timeout(20):
            await waiting.wait()
        return web.Response(body=b"ok")

    async with HttpClient() as client, serving(("POST", "/x", answers)) as url:
        assert set(await asyncio.gather(*(read(client, url) for _ in range(150)))) == {b"ok"}


async def test_connections_that_nobody_needs_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "KEPT_SECONDS", 0.05)
    left = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(sized(b"one"))
        assert await reader.read() == b""
        left.set()
        writer.close()

    async with HttpClient() as client, await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        assert await read(client, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") == b"one"
        await asyncio.wait_for(left.wait(), 10)


async def test_a_bad_status_tells_where_it_moved() -> None:
    answer = b"HTTP/1.1 307 Moved\r\nLocation: http://u:p@h/y\r\nContent-Length: 0\r\n\r\n"
    async with HttpClient() as client, saying(answer) as (url, _):
        with pytest.raises(BadStatus) as caught:
            await read(client, url)
        assert caught.value.hint == "it moved to http://h/y"


async def test_a_host_that_nobody_knows_is_unreachable() -> None:
    async with HttpClient() as client:
        with pytest.raises(Unreachable, match="nobody knows its host"):
            await read(client, "http://callgate.invalid:1")


async def test_streams_go_through_a_proxy_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def as_proxy(request: web.Request) -> web.StreamResponse:
        asked.append(request.raw_path)
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one ")
        await response.write(b"two")
        return response

    async with HttpClient() as client, serving(("POST", "/{any:.*}", as_proxy)) as proxy:
        for name in ("HTTP_PROXY", "NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", proxy)
        assert await read(client, "http://models.invalid") == b"one two"
    assert len(asked) == 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    key, found = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(found)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl to make a certificate with")
    return key, found


async def test_tls_needs_somebody_who_is_trusted(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    key, found = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(found, key)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n{}")
            writer.write(sized(b"secret", "Connection: close"))
            await writer.drain()
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context) as server:
        url = f"https://localhost:{server.sockets[0].getsockname()[1]}"
        async with HttpClient() as client:
            with pytest.raises(Unreachable, match="certificate isn't trusted"):
                await read(client, url)
        monkeypatch.setenv("SSL_CERT_FILE", os.fspath(found))
        async with HttpClient() as client:
            assert await read(client, url) == b"secret"
    gc.collect()


@pytest.mark.parametrize("high_water", [connections.HIGH_WATER, 4])
async def test_what_somebody_left_unread_is_for_nobody_else(high_water: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HIGH_WATER", high_water)
    async with saying(sized(b"for alice"), sized(b"for bob")) as (url, came_on), HttpClient() as client:
        async with post_stream(client, f"{url}/x", b"{}", patience=SHORT):
            pass  # head and body came together, and she leaves without a word of it
        assert await read(client, url) == b"for bob"
        assert came_on == [1, 2]


async def test_a_packed_answer_is_for_nobody_else() -> None:
    packed = sized(b"for alice", "Content-Encoding: gzip")
    async with saying(packed, sized(b"for bob")) as (url, came_on), HttpClient() as client:
        with pytest.raises(BadAnswer):
            await read(client, url)
        assert await read(client, url) == b"for bob"
        assert came_on == [1, 2]
