import asyncio
import re
from collections.abc import Callable
from contextlib import aclosing

import pytest
from aiohttp import web

from callgate.detect.gguf import read_header_from
from callgate.detect.gguf.layout import STRING
from callgate.vocabulary import BadAnswer, BadStatus, Unreachable
from callgate.wire import HttpClient, read_front
from callgate.wire.ranges import BLOCK
from tests.detect.gguf.writer import Gguf, Items
from tests.wire.server import serving


class RangeServer:
    """Serves `content` by ranges and counts what it sends."""

    def __init__(self, content: bytes, *, tag: str | None = '"v1"', total: bool = True) -> None:
        self.content = content
        self.requests: list[web.Request] = []
        self.connections: set[int] = set()
        self.sent = 0
        self._tag = tag
        self._total = total

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        assert request.transport is not None
        self.connections.add(request.transport.get_extra_info("peername")[1])
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["Range"])
        assert asked
        start, end = int(asked[1]), min(int(asked[2]) + 1, len(self.content))
        if start >= len(self.content):
            return web.Response(status=416, headers={"Content-Range": f"bytes */{len(self.content)}"})
        total = len(self.content) if self._total else "*"
        headers = {"Content-Range": f"bytes {start}-{end - 1}/{total}"}
        if self._tag:
            headers["ETag"] = self._tag
        self.sent += end - start
        return web.Response(status=206, headers=headers, body=self.content[start:end])


async def everything(client: HttpClient, url: str, block: int = 1000) -> bytes:
    return b"".join([piece async for piece in read_front(client, url, block=block)])


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 2500, 3000])
@pytest.mark.parametrize("total", [True, False])
async def test_the_whole_file_comes_in_order_over_one_connection(client: HttpClient, size: int, total: bool) -> None:
    server = RangeServer(bytes(n % 251 for n in range(size)), total=total)
    async with serving(("GET", "/f", server.serve)) as base:
        assert await everything(client, f"{base}/f") == server.content
    assert len(server.connections) == 1
    assert len(server.requests) <= size // 1000 + 1


async def test_a_reader_that_has_enough_asks_for_no_more(client: HttpClient) -> None:
    server = RangeServer(bytes(10_000))
    async with (
        serving(("GET", "/f", server.serve)) as base,
        aclosing(read_front(client, f"{base}/f", block=1000)) as pieces,
    ):
        got = 0
        async for piece in pieces:
            got += len(piece)
            if got >= 1500:
                break
    assert (len(server.requests), server.sent) == (2, 2000)


async def test_a_large_header_costs_itself_and_one_block_at_most(client: HttpClient) -> None:
    tokens = [f"token number {n}" for n in range(150_000)]
    pairs = {"tokenizer.ggml.tokens": Items(STRING, tokens), "tokenizer.ggml.merges": Items(STRING, tokens)}
    header = Gguf({**pairs, "tokenizer.chat_template": "{{ messages }}"}).to_bytes()
    server = RangeServer(header + bytes(20_000_000))
    async with serving(("GET", "/m.gguf", server.serve)) as base:
        found = await read_header_from(read_front(client, f"{base}/m.gguf"))
    assert found.templates == {"default": "{{ messages }}"}
    assert found.header_bytes == len(header) > 6_000_000
    assert server.sent <= len(header) + BLOCK
    assert len(server.requests) <= 3


async def test_a_server_without_ranges_is_read_until_the_header_ends(client: HttpClient) -> None:
    header = Gguf({"tokenizer.chat_template": "x" * 100_000}).to_bytes()
    cut_off = asyncio.Event()
    written = 0

    async def whole(request: web.Request) -> web.StreamResponse:
        nonlocal written
        response = web.StreamResponse(headers={"Content-Length": str(4 << 30)})
        await response.prepare(request)
        try:
            await response.write(header)
            while True:
                await response.write(bytes(65536))
                written += 65536
        finally:
            cut_off.set()

    async with serving(("GET", "/m.gguf", whole)) as base:
        found = await read_header_from(read_front(client, f"{base}/m.gguf"))
        await asyncio.wait_for(cut_off.wait(), 10)
    assert found.header_bytes == len(header)
    # What is under way between two sockets is the system's; it is megabytes, not the file.
    assert written < 64 << 20


async def test_redirects_are_followed_once_and_the_token_stays_behind(client: HttpClient) -> None:
    store = RangeServer(bytes(2500))
    seen = []
    async with serving(("GET", "/blob", store.serve)) as far:

        async def hub(request: web.Request) -> web.Response:
            seen.append(request.headers.get("Authorization"))
            return web.Response(status=302, headers={"Location": f"{far}/blob?Signature=a%2Fb+c~d%3D"})

        async with serving(("GET", "/f", hub)) as base:
            pieces = read_front(client, f"{base}/f", headers={"Authorization": "Bearer t", "X-Own": "1"}, block=1000)
            assert len(b"".join([piece async for piece in pieces])) == 2500
    assert seen == ["Bearer t"]
    assert [request.headers.get("Authorization") for request in store.requests] == [None] * 3
    assert [request.headers.get("X-Own") for request in store.requests] == ["1"] * 3
    assert {request.raw_path for request in store.requests} == {"/blob?Signature=a%2Fb+c~d%3D"}


async def test_on_the_same_server_the_token_goes_along(client: HttpClient) -> None:
    store = RangeServer(bytes(2500))

    async def renamed(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "/new"})

    async with serving(("GET", "/new", store.serve), ("GET", "/old", renamed)) as base:
        url = f"{base}/old".replace("http://", "http://u:p@")
        assert len(await everything(client, url)) == 2500
    assert [request.headers.get("Authorization") for request in store.requests] == ["Basic dTpw"] * 3


async def test_a_strong_tag_is_held_on_to_and_a_weak_one_is_not(client: HttpClient) -> None:
    for tag, sent in (('"v1"', '"v1"'), ('W/"v1"', None), (None, None)):
        server = RangeServer(bytes(1500), tag=tag)
        async with serving(("GET", "/f", server.serve)) as base:
            await everything(client, f"{base}/f")
        assert [request.headers.get("If-Range") for request in server.requests] == [None, sent]


async def test_a_file_that_changes_meanwhile_is_noticed(client: HttpClient) -> None:
    server = RangeServer(bytes(2500))

    async def changing(request: web.Request) -> web.StreamResponse:
        return web.Response(body=bytes(10)) if server.requests else await server.serve(request)

    async def growing(request: web.Request) -> web.StreamResponse:
        server.content += b"x"
        return await server.serve(request)

    async with serving(("GET", "/changing", changing), ("GET", "/growing", growing)) as base:
        for path in ("changing", "growing"):
            with pytest.raises(BadAnswer, match="changed while it was read"):
                await everything(client, f"{base}/{path}")


Answer = Callable[[], web.Response]


def part(content_range: str | None, body: bytes = b"x" * 1000, **headers: str) -> Answer:
    return lambda: web.Response(
        status=206, body=body, headers=headers | ({"Content-Range": content_range} if content_range else {})
    )


@pytest.mark.parametrize(
    "answer",
    [
        part(None),
        part("bytes 0-999"),
        part("bytes */5000"),
        part("pages 0-999/5000"),
        part("bytes 5-1004/5000"),
        part("bytes 0-1000/5000", b"x" * 1001),
        part("bytes 0-999/500"),
        part("bytes 999-0/5000"),
        part("bytes 0-999/5000", b"x" * 998),
        part("bytes 0-998/5000", b"x" * 1000),
        part(f"bytes 0-{'9' * 5000}/*"),
        part("bytes ٠-٩/*"),
    ],
)
async def test_answers_that_are_not_what_was_asked_for_are_bad(client: HttpClient, answer: Answer) -> None:
    async def handler(request: web.Request) -> web.Response:
        return answer()

    async with serving(("GET", "/f", handler)) as base:
        with pytest.raises(BadAnswer):
            await everything(client, f"{base}/f")


async def test_compressed_bytes_are_bad(client: HttpClient) -> None:
    async def handler(request: web.Request) -> web.Response:
        response = web.Response(body=bytes(1000))
        response.enable_compression(web.ContentCoding.gzip)
        return response

    async with serving(("GET", "/f", handler)) as base:
        with pytest.raises(BadAnswer, match="compressed"):
            await everything(client, f"{base}/f")


async def test_a_server_that_deals_out_single_bytes_is_given_up(client: HttpClient) -> None:
    async def stingy(request: web.Request) -> web.Response:
        start = int(request.headers["Range"].removeprefix("bytes=").partition("-")[0])
        return web.Response(status=206, body=b"x", headers={"Content-Range": f"bytes {start}-{start}/5000"})

    async with serving(("GET", "/f", stingy)) as base:
        with pytest.raises(BadAnswer, match="pieces that are too small"):
            await everything(client, f"{base}/f")


async def test_errors_of_the_server_and_of_the_line_are_ours(client: HttpClient) -> None:
    async with serving() as base:
        with pytest.raises(BadStatus) as caught:
            await everything(client, f"{base}/f?token=secret")
        assert caught.value.status == 404
        assert "secret" not in str(caught.value)
    with pytest.raises(Unreachable):
        await everything(client, f"{base}/f")
