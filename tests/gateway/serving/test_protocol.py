"""Our protocol on the wire: it answers as uvicorn's own does, and better where that one is wrong."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from uvicorn.server import ServerState

from tests.gateway.serving.asgi_servers import UVICORNS, Echo, listening, said, until

LAST = b"GET /last HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
"""After it the server hangs up."""


def asked(first_line: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join((f"{first_line} HTTP/1.1", "Host: here", *headers, "", "")).encode("latin-1") + body


CHUNKED = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: t\r\n\r\n"
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
    "word not needed": asked("POST /early", "Expect: 100-continue", "Content-Length: 2", body=b"hi") + LAST,
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
