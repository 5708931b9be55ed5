import asyncio
import subprocess
import sys

import pytest
from aiohttp import web

from callgate.vocabulary import BackendError, BadAnswer, BadStatus, Unreachable, UsageError
from callgate.wire import HttpClient
from callgate.wire import http as wire_http
from tests.wire.server import serving


async def answer_with(client: HttpClient, response: web.Response | bytes) -> object:
    async def handler(request: web.Request) -> web.Response:
        return response if isinstance(response, web.Response) else web.Response(body=response)

    async with serving(("GET", "/x", handler)) as base:
        return await client.get_json(f"{base}/x")


async def test_json_is_fetched(client: HttpClient) -> None:
    assert await answer_with(client, b'{"a": [1, 2.5, null, "\xc3\xa9"]}') == {"a": [1, 2.5, None, "é"]}


async def test_json_is_sent_with_headers_and_answered(client: HttpClient) -> None:
    async def echo(request: web.Request) -> web.Response:
        return web.json_response([request.content_type, request.headers["X-Own"], await request.json()])

    async with serving(("POST", "/x", echo)) as base:
        answer = await client.post_json(f"{base}/x", {"model": "é"}, headers={"X-Own": "1"})
    assert answer == ["application/json", "1", {"model": "é"}]


async def test_a_bad_status_says_which_and_keeps_a_clean_excerpt(client: HttpClient) -> None:
    body = b'{"error":\x1b[31m "model \x00 not found"}\n' + b"x" * 100_000
    with pytest.raises(BadStatus, match="/x answered with status 404") as caught:
        await answer_with(client, web.Response(status=404, body=body))
    assert caught.value.status == 404
    assert caught.value.body.startswith('{"error": [31m "model not found"} xxx')
    assert len(caught.value.body) == 300
    assert "not found" not in str(caught.value)


@pytest.mark.parametrize("body", [b"", b"<html>", b"{'a': 1}", b'{"a": 1', b'"\xff"', b"\x00"])
async def test_what_is_not_json_is_a_bad_answer(client: HttpClient, body: bytes) -> None:
    with pytest.raises(BadAnswer, match="isn't JSON"):
        await answer_with(client, body)


async def test_json_nested_without_end_is_a_bad_answer(client: HttpClient) -> None:
    for bomb in (b"[" * 1_000_000, b'{"a":' * 300_000, b"[" * 100_000 + b"]" * 100_000):
        with pytest.raises(BadAnswer, match=r"nested too deeply|isn't JSON"):
            await answer_with(client, bomb)


async def test_too_large_an_answer_is_cut_off_announced_or_not(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_http, "MAX_JSON_BYTES", 1 << 20)
    with pytest.raises(BadAnswer, match="more than 1 MiB"):
        await answer_with(client, b" " * (2 << 20))
    stopped = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b" " * 65536)
        finally:
            stopped.set()

    async with serving(("GET", "/x", endless)) as base:
        with pytest.raises(BadAnswer, match="more than 1 MiB"):
            await client.get_json(f"{base}/x")
        await asyncio.wait_for(stopped.wait(), 10)


async def test_a_small_body_that_unpacks_to_a_giant_is_cut_off(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_http, "MAX_JSON_BYTES", 1 << 20)
    giant = web.Response(body=b" " * (30 << 20))
    giant.enable_compression(web.ContentCoding.gzip)
    with pytest.raises(BadAnswer):
        await answer_with(client, giant)


async def test_nobody_listening_is_unreachable_and_has_a_hint(client: HttpClient) -> None:
    async with serving() as base:
        pass
    with pytest.raises(Unreachable, match="can't be reached: Connection refused") as caught:
        await client.get_json(f"{base}/x")
    assert caught.value.hint == "is the server running?"


async def test_an_unknown_host_is_unreachable(client: HttpClient) -> None:
    with pytest.raises(Unreachable):
        await client.get_json("http://no-such-host.invalid/x")


async def test_a_server_that_does_not_answer_in_time_is_unreachable(client: HttpClient) -> None:
    forever = asyncio.Event()

    async def silent(request: web.Request) -> web.Response:
        await forever.wait()
        return web.Response()

    async with serving(("GET", "/x", silent)) as base:
        with pytest.raises(Unreachable, match=r"didn't answer within 0\.1 s"):
            await client.get_json(f"{base}/x", timeout=0.1)
        forever.set()


async def test_a_server_that_breaks_off_or_speaks_no_http_is_told_apart(client: HttpClient) -> None:
    async def speak(said: bytes) -> BackendError:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(said)
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(BackendError) as caught:
                await client.get_json(f"http://127.0.0.1:{port}/x")
            return caught.value

    assert isinstance(await speak(b""), Unreachable)
    assert isinstance(await speak(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), BadAnswer)
    assert isinstance(await speak(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), BadAnswer)


async def test_no_error_shows_credentials_or_the_query(client: HttpClient) -> None:
    async with serving() as base:
        closed = base.replace("http://", "http://user:secret@")
    async with serving() as base:
        missing = base.replace("http://", "http://user:secret@")
        for url in (f"{closed}/x?key=secret#secret", f"{missing}/x?key=secret", "ftp://user:secret@host/?secret"):
            with pytest.raises((BackendError, UsageError)) as caught:
                await client.get_json(url)
            assert "secret" not in f"{caught.value} {caught.value.hint}"


async def test_credentials_in_the_url_are_sent(client: HttpClient) -> None:
    async def who(request: web.Request) -> web.Response:
        return web.json_response([request.headers.get("Authorization"), request.headers["Host"]])

    async with serving(("GET", "/x", who)) as base:
        url = f"{base}/x".replace("http://", "http://u:p@")
        assert await client.get_json(url) == ["Basic dTpw", base.removeprefix("http://")]
        answer = await client.get_json(url, headers={"Authorization": "Bearer t"})
        assert answer == ["Bearer t", base.removeprefix("http://")]


@pytest.mark.parametrize("url", ["", "qwen3", "ftp://host/", "http://", "http://[::1", "http://host:99999999/"])
async def test_what_is_no_url_is_the_callers_to_mend(client: HttpClient, url: str) -> None:
    with pytest.raises(UsageError, match="isn't a URL"):
        await client.get_json(url)


async def test_redirects_are_followed_and_secrets_stay_with_their_server(client: HttpClient) -> None:
    async def who(request: web.Request) -> web.Response:
        return web.json_response({name: request.headers.get(name) for name in ("Authorization", "Cookie", "X-Own")})

    async with serving(("GET", "/there", who)) as other:

        async def away(request: web.Request) -> web.Response:
            raise web.HTTPFound(f"{other}/there")

        async def along(request: web.Request) -> web.Response:
            raise web.HTTPTemporaryRedirect("there?a=%2F")

        own = {"Authorization": "Bearer t", "Cookie": "c=1", "X-Own": "1"}
        async with serving(("GET", "/away", away), ("GET", "/along", along), ("GET", "/there", who)) as base:
            assert await client.get_json(f"{base}/along", headers=own) == own
            answer = await client.get_json(f"{base}/away", headers=own)
            assert answer == {"Authorization": None, "Cookie": None, "X-Own": "1"}


async def test_redirects_in_a_circle_to_nowhere_or_for_a_post_are_not_followed(client: HttpClient) -> None:
    async def circle(request: web.Request) -> web.Response:
        raise web.HTTPFound("/circle")

    async def nowhere(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "file:///etc/passwd"})

    async def moved(request: web.Request) -> web.Response:
        return web.Response(status=308, headers={"Location": "https://u:secret@elsewhere/v1?secret"})

    handlers = (("GET", "/circle", circle), ("GET", "/nowhere", nowhere), ("POST", "/moved", moved))
    async with serving(*handlers) as base:
        with pytest.raises(BadAnswer, match="redirects more than 5 times"):
            await client.get_json(f"{base}/circle")
        with pytest.raises(BadAnswer, match="redirects to nowhere"):
            await client.get_json(f"{base}/nowhere")
        with pytest.raises(BadStatus) as caught:
            await client.post_json(f"{base}/moved", {})
        assert caught.value.hint == "it moved to https://elsewhere/v1"


async def test_proxies_are_used_for_other_machines_and_never_for_this_one(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def as_proxy(request: web.Request) -> web.Response:
        return web.json_response([request.raw_path, request.headers.get("Proxy-Authorization")])

    async def direct(request: web.Request) -> web.Response:
        return web.json_response("direct")

    async with serving(("GET", "/{any:.*}", as_proxy)) as proxy, serving(("GET", "/x", direct)) as here:
        for name in ("HTTP_PROXY", "NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", proxy.replace("http://", "http://u:p@"))
        answer = await client.get_json("http://models.invalid/x")
        assert answer == ["http://models.invalid/x", "Basic dTpw"]
        assert await client.get_json(f"{here}/x") == "direct"
        assert await client.get_json(f"{here.replace('127.0.0.1', 'localhost')}/x") == "direct"
        monkeypatch.setenv("no_proxy", "models.invalid")
        with pytest.raises(Unreachable):
            await client.get_json("http://models.invalid/x")


async def test_one_connection_serves_many_requests() -> None:
    ports = set()

    async def handler(request: web.Request) -> web.Response:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])
        return web.json_response(1)

    async with serving(("GET", "/x", handler)) as base, HttpClient() as client:
        for _ in range(5):
            await client.get_json(f"{base}/x")
    assert len(ports) == 1


def test_importing_the_room_loads_no_aiohttp() -> None:
    code = "import sys, callgate.wire; print(sorted({'aiohttp', 'asyncio', 'yarl'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
