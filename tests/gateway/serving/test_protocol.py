"""Our protocol on the wire: it answers as uvicorn's own does, and better where that one is wrong."""

from __future__ import annotations

import asyncio
import gc
import weakref
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from uvicorn.server import ServerState

from callgate.gateway.serving.connection import MOST_HEAD_BYTES
from tests.gateway.serving.asgi_servers import UVICORNS, Echo, listening, said, until

LAST = b"GET /last HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
"""After it the server hangs up."""


def asked(first_line: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join((f"{first_line} HTTP/1.1", "Host: here", *headers, "", "")).encode("latin-1") + body


CHUNKED = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
ALIKE = {
    "plain": asked("GET /a/b?c=d&e=%20") + LAST,
    "quoted": asked("GET /a%2Fb%20c%C3%A4?x#y") + LAST,
    "whole address": asked("GET http://elsewhere:80/a/b?c=d") + LAST,
    "body": asked("POST /a", "Content-Length: 5", body=b"hello") + LAST,
    "chunks": asked("POST /a", "Transfer-Encoding: chunked", body=CHUNKED) + LAST,
    "streamed": asked("GET /stream") + LAST,
    "streamed head": asked("HEAD /stream") + LAST,
    "head": asked("HEAD /a") + LAST,
    "empty": asked("GET /empty") + LAST,
    "teapot": asked("GET /teapot") + LAST,
    "odd status": asked("GET /odd") + LAST,
    "closed by the server": asked("GET /close") + LAST,
    "same name twice": asked("GET /a", "X-A: 1", "X-a: 2") + LAST,
    "word wanted": asked("POST /a", "Expect: 100-continue", "Content-Length: 2", body=b"hi") + LAST,
    "body nobody reads": asked("POST /early", "Content-Length: 5", body=b"hello") + LAST,
    "half": asked("GET /half"),
    "old": b"GET /a HTTP/1.0\r\nHost: here\r\n\r\n",
    "three": asked("GET /1") + asked("POST /2", "Content-Length: 5", body=b"hello") + asked("GET /stream") + LAST,
    "no HTTP": b"hello\r\n\r\n",
    "no such version": b"GET / HTTP/9.9\r\n\r\n",
    "two lengths": asked("POST /a", "Content-Length: 5", "Content-Length: 6", body=b"hello!"),
    "length and chunks": asked("POST /a", "Content-Length: 5", "Transfer-Encoding: chunked", body=CHUNKED),
    "header without a colon": asked("GET /a", "no colon"),
}


def parts(heard: bytes) -> list[tuple[bytes, list[bytes], bytes]]:
    """The first line, the headers but the date, and what comes before the next answer."""
    answers = []
    for each in heard.split(b"HTTP/1.1 ")[1:]:
        head, _, body = each.partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        answers.append((first, sorted(line for line in headers if not line.startswith(b"date:")), body))
    return answers


@pytest.mark.parametrize("sent", ALIKE.values(), ids=ALIKE)
async def test_it_answers_as_uvicorn_does(sent: bytes) -> None:
    async with listening(Echo()) as ours, listening(Echo(), UVICORNS) as theirs:
        heard = parts(await said(ours, sent))
        expected = parts(await said(theirs, sent))
    if expected[-1][0].startswith(b"400"):
        assert [first[:3] for first, *_ in heard] == [b"400"]
    else:
        assert heard == expected


@settings(max_examples=60)
@given(st.sampled_from(["three", "chunks", "quoted", "word wanted"]), st.lists(st.integers(0, 400), max_size=6))
def test_however_a_request_is_torn_apart_the_answer_is_the_same(name: str, cuts: list[int]) -> None:
    sent = ALIKE[name]
    ends = sorted({min(cut, len(sent)) for cut in cuts} | {0, len(sent)})
    pieces = [sent[start:end] for start, end in pairwise(ends)]

    async def both() -> tuple[bytes, bytes]:
        async with listening(Echo()) as port:
            return await said(port, sent), await said(port, *pieces, between=lambda: asyncio.sleep(0))

    whole, torn = asyncio.run(both())
    assert parts(torn) == parts(whole)


@pytest.mark.parametrize("body", [b"5\r\nhello\r\n0\r\n\r\n", b"hello"])
async def test_a_body_is_read_though_its_client_proposes_another_protocol(body: bytes) -> None:
    """As Java's does with every first request. The parser would leave the body to that protocol."""
    framing = "Content-Length: 5" if body == b"hello" else "Transfer-Encoding: chunked"
    proposal = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQ")
    sent = asked("POST /a", framing, *proposal, body=body) + asked("GET /b", *proposal) + LAST
    async with listening(Echo()) as port:
        for pieces in ([sent], [sent[at : at + 1] for at in range(len(sent))]):
            first, second, _ = parts(await said(port, *pieces))
            assert first[2].endswith(b'"body": "hello"}')
            assert b'"path": "/b"' in second[2]


async def test_old_clients_get_streams_that_they_can_read() -> None:
    async with listening(Echo()) as port:
        heard = await said(port, b"GET /stream HTTP/1.0\r\nHost: here\r\n\r\n")
    assert b"chunked" not in heard
    assert heard.endswith(b'"body": ""}')


async def test_what_goes_wrong_before_an_answer_is_an_error_of_the_server() -> None:
    async with listening(Echo()) as port:
        for path in ("/boom", "/split"):
            heard = await said(port, asked(f"GET {path}") + LAST)
            assert [first for first, *_ in parts(heard)] == [b"500 Internal Server Error"]
            assert b"x-more" not in heard


@pytest.mark.parametrize("path", ["/longer", "/shorter"])
async def test_an_answer_of_another_length_than_announced_isnt_taken_for_whole(path: str) -> None:
    async with listening(Echo()) as port:
        heard = await said(port, asked(f"GET {path}") + LAST)
    assert b"/last" not in heard
    assert not heard.endswith(b"}")


async def test_nonsense_behind_a_request_doesnt_spoil_its_answer() -> None:
    async with listening(Echo()) as port:
        heard = await said(port, asked("GET /stream") + b"nonsense\r\n\r\n")
    assert [first for first, *_ in parts(heard)] == [b"200 OK"]
    assert heard.endswith(b"0\r\n\r\n")


async def test_a_body_that_breaks_off_in_nonsense_is_refused() -> None:
    async with listening(Echo()) as port:
        heard = await said(port, asked("POST /a", "Transfer-Encoding: chunked", body=b"5\r\nhello\r\nnonsense\r\n"))
    assert [first for first, *_ in parts(heard)] == [b"400 Bad Request"]


async def test_who_hangs_up_is_heard_of_and_what_waited_behind_is_never_begun() -> None:
    app, state = Echo(), ServerState()
    async with listening(app, state=state) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked("GET /wait") + asked("GET /boom"))
        await writer.drain()
        await until(lambda: state.tasks)
        writer.close()
        await until(lambda: not state.tasks and not state.connections)
    assert app.begun == app.gone == ["/wait"]


async def test_a_server_that_is_stopped_ends_what_it_has_begun_and_hangs_up() -> None:
    app, state = Echo(), ServerState()
    async with listening(app, state=state) as port:
        idle, writer = await asyncio.open_connection("127.0.0.1", port)
        await until(lambda: state.connections)
        answer = asyncio.ensure_future(said(port, asked("GET /wait") + asked("GET /a")))
        await until(lambda: state.tasks)
        for connection in list(state.connections):
            connection.shutdown()
        assert await idle.read() == b""
        writer.close()
        app.may_go_on.set()
        assert [first for first, *_ in parts(await answer)] == [b"200 OK"]


async def test_a_body_that_nobody_reads_yet_isnt_taken_in_whole() -> None:
    state = ServerState()
    async with listening(Echo(), state=state) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked("GET /wait") + asked("POST /a", f"Content-Length: {64 << 20}"))
        await until(lambda: state.tasks)
        (connection,) = state.connections
        writer.write(b"a" * (64 << 20))
        await until(lambda: not connection.transport.is_reading())
        writer.transport.abort()


async def test_trailers_are_no_headers() -> None:
    body = b"0\r\nHost: elsewhere\r\nX-Trailer: t\r\n\r\n"
    async with listening(Echo()) as port:
        heard = await said(port, asked("POST /a", "Transfer-Encoding: chunked", body=body) + LAST)
    assert b"elsewhere" not in heard
    assert b"x-trailer" not in heard
    assert b"/last" in heard


@pytest.mark.parametrize("line", [b"X-T: 1\r\n", b"a"])
async def test_trailers_without_end_are_cut_off(line: bytes) -> None:
    more = line * (MOST_HEAD_BYTES // len(line) + 1)
    body = b"0\r\nX-Trailer: " + more
    async with listening(Echo(), head_seconds=600.0) as port:
        heard = await said(port, asked("POST /early", "Transfer-Encoding: chunked"), body, more)
    assert len(parts(heard)) == 1  # what went wrong behind it isn't a second answer


async def test_of_many_requests_at_once_only_some_are_taken_in() -> None:
    app, state = Echo(), ServerState()
    async with listening(app, state=state) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked("GET /wait"))
        await until(lambda: state.tasks)
        (connection,) = state.connections
        writer.write(asked("GET /a") * 100_000 + LAST)
        await until(lambda: not connection.transport.is_reading())
        assert app.begun == ["/wait"]
        app.may_go_on.set()
        while len(app.begun) < 50:
            assert await reader.read(65_536)
        writer.transport.abort()


async def test_a_request_for_two_hosts_is_refused() -> None:
    async with listening(Echo()) as port:
        heard = await said(port, asked("GET /a", "Host: elsewhere"))
    assert [first for first, *_ in parts(heard)] == [b"400 Bad Request"]


async def test_whoever_waits_for_a_word_and_gets_an_answer_instead_may_send_nothing() -> None:
    async with listening(Echo()) as port:
        heard = await said(port, asked("POST /early", "Expect: 100-continue", "Content-Length: 2"))
    ((first, headers, _),) = parts(heard)
    assert first == b"200 OK"
    assert b"connection: close" in headers


async def test_an_early_answer_reaches_a_client_that_sends_all_before_it_reads() -> None:
    body = b"a" * (40 << 20)
    async with listening(Echo()) as port:
        heard = await said(port, asked("POST /early", "Connection: close", f"Content-Length: {len(body)}"), body)
    assert [first for first, *_ in parts(heard)] == [b"200 OK"]


async def test_a_client_that_never_reads_is_cut_off() -> None:
    app, state = Echo(), ServerState()
    async with listening(app, state=state, idle_seconds=1) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        cast("asyncio.Transport", writer.transport).pause_reading()
        writer.write(asked("GET /much"))
        await until(lambda: state.tasks)
        await until(lambda: not state.tasks and not state.connections)
        writer.transport.abort()


async def test_a_body_that_nobody_wanted_leaves_a_connection_as_good_as_before() -> None:
    async with listening(Echo(), head_seconds=0.5) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked("POST /early", "Content-Length: 10", body=b"hello"))
        await reader.readuntil(b"}")
        writer.write(b"hello")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await reader.read(1)
        writer.write(LAST)
        assert b'"path": "/last"' in await reader.read()
        writer.close()


async def test_a_connection_that_is_gone_leaves_nothing_to_collect() -> None:
    state = ServerState()
    async with listening(Echo(), state=state) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked("GET /a"))
        await until(lambda: state.total_requests)
        (connection,) = state.connections
        left = weakref.ref(connection)
        gc.disable()
        try:
            del connection
            writer.transport.abort()
            await until(lambda: not state.connections)
            await until(lambda: left() is None)
        finally:
            gc.enable()
