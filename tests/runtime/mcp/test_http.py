from __future__ import annotations

import asyncio
import gzip
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import uvicorn
from aiohttp import web
from mcp.server.mcpserver import Context, MCPServer

from callgate.runtime.mcp.server import McpLimits, McpServer
from callgate.runtime.mcp.server_spec import HttpSpec
from callgate.runtime.mcp.transports import LONGEST_MESSAGE
from callgate.settings import Secret
from callgate.vocabulary import ToolServerFailed

TOKEN = "Bearer tok-en-of-mine"


def official() -> MCPServer:
    server = MCPServer("official")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    @server.tool()
    async def grow(context: Context[Any]) -> str:
        server.add_tool(lambda: "grown", name="grown")
        await context.notify_tools_changed()
        return "done"

    @server.tool()
    def long(size: int) -> str:
        return "x" * size

    @server.tool()
    async def hang() -> None:
        await asyncio.sleep(600)

    return server


@pytest.fixture
def official_url() -> Iterator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # so that whoever comes before the server does waits
    app = official().streamable_http_app()
    running = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    running.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
async def at() -> AsyncIterator[Callable[..., McpServer]]:
    made: list[McpServer] = []

    def make(url: str, *, limits: McpLimits | None = None) -> McpServer:
        spec = HttpSpec(name="web", url=Secret(url), headers={"Authorization": Secret(TOKEN)})
        made.append(McpServer(spec, limits))
        return made[-1]

    yield make
    for server in made:
        await server.close()


async def test_an_official_server_works(official_url: str, at: Callable[..., McpServer]) -> None:
    server = at(official_url)
    assert {tool.name for tool in await server.tools()} == {"add", "grow", "long", "hang"}
    assert (await server.call("add", {"a": 17, "b": 6})).content == "23"
    wrong = await server.call("add", {"a": "x"})
    assert wrong.is_error
    assert len((await server.call("long", {"size": 3_000_000})).content) == 3_000_000
    too_long = await server.call("long", {"size": LONGEST_MESSAGE})
    assert too_long.is_error
    assert "again" not in too_long.content
    assert (await server.call("add", {"a": 1, "b": 2})).content == "3"


async def test_an_official_server_tells_of_changes(official_url: str, at: Callable[..., McpServer]) -> None:
    server = at(official_url)
    await server.open()
    await server.call("grow", {})
    async with asyncio.timeout(20):
        while "grown" not in [tool.name for tool in await server.tools()]:  # noqa: ASYNC110 - it is told to nobody else
            await asyncio.sleep(0.01)


async def test_a_call_out_of_time_leaves_the_session_whole(official_url: str, at: Callable[..., McpServer]) -> None:
    server = at(official_url, limits=McpLimits(call=2))
    await server.open()
    assert "took longer" in (await server.call("hang", {})).content
    assert (await server.call("add", {"a": 1, "b": 2})).content == "3"


class Played:
    """A server over HTTP of the protocol before, by hand."""

    def __init__(self) -> None:
        self.session = 0
        self.seen: list[str | None] = []
        self.url = ""

    async def post(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request.headers.get("Authorization"))
        message = await request.json()
        method, own = message.get("method"), {"mcp-session-id": str(self.session)}
        if method == "initialize":
            self.session += 1
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "played", "version": "1"},
            }
            return self.said(message, result, {"mcp-session-id": str(self.session)})
        if method == "server/discover":
            return web.json_response(
                {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}, status=400
            )
        if request.headers.get("mcp-session-id") != own["mcp-session-id"]:
            return web.Response(status=404)
        if "id" not in message:
            return web.Response(status=202)
        if method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "long", "zipped", "broken")]
            return self.said(message, {"tools": tools})
        name = message["params"]["name"]
        if name == "broken":
            return web.Response(status=500, text="secret details")
        words = "x" * (LONGEST_MESSAGE + 1) if name == "long" else "hi"
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": words}]}}
        if name == "zipped":
            body = gzip.compress(json.dumps(answer).encode())
            return web.Response(body=body, headers={"content-type": "application/json", "content-encoding": "gzip"})
        return self.said(message, answer["result"])

    def said(self, message: Any, result: Any, headers: dict[str, str] | None = None) -> web.Response:
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result}, headers=headers)


async def closed(_: web.Request) -> web.Response:
    return web.Response(status=401)


async def page(_: web.Request) -> web.Response:
    return web.Response(text="<html>", content_type="text/html")


async def served(played: Played, port: int = 0) -> web.AppRunner:
    app = web.Application()
    app.router.add_post("/mcp", played.post)
    app.router.add_post("/closed", closed)
    app.router.add_post("/page", page)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    played.url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    return runner


@pytest.fixture
async def played() -> AsyncIterator[Played]:
    server = Played()
    runner = await served(server)
    yield server
    await runner.cleanup()


async def test_headers_are_sent_and_never_told(
    played: Played, at: Callable[..., McpServer], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = at(f"{played.url}?key=also-secret")
    assert (await server.call("echo", {})).content == "hi"
    await server.call("broken", {})
    assert set(played.seen) == {TOKEN}
    for text in (caplog.text, repr(server._spec), server.where):
        assert "tok-en" not in text
        assert "also-secret" not in text


async def test_a_session_that_was_forgotten_is_opened_again(played: Played, at: Callable[..., McpServer]) -> None:
    server = at(played.url)
    await server.open()
    played.session = 1000  # as after a restart
    assert (await server.call("echo", {})).content == "hi"


async def test_answers_have_a_bound_and_the_session_goes_on(played: Played, at: Callable[..., McpServer]) -> None:
    server = at(played.url)
    assert "more than 16,777,216 bytes, which is too much: ask it for less" in (await server.call("long", {})).content
    assert "compressed" in (await server.call("zipped", {})).content
    said = await server.call("broken", {})
    assert said.content == "error: the tool 'broken' failed: it answered with HTTP status 500"
    assert (await server.call("echo", {})).content == "hi"
    assert played.session == 1


@pytest.mark.parametrize(
    ("path", "words"), [("closed", "HTTP status 401"), ("nothing", "HTTP status 404"), ("page", "content type")]
)
async def test_what_is_no_server_of_tools_says_so(
    played: Played, at: Callable[..., McpServer], path: str, words: str
) -> None:
    with pytest.raises(ToolServerFailed, match=f"'web' at http://127.0.0.1:[0-9]+ can't be used: .*{words}"):
        await at(played.url.replace("mcp", path)).open()


async def test_a_server_that_is_not_there_says_so(at: Callable[..., McpServer]) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/mcp"
        with pytest.raises(ToolServerFailed, match=r"can't be used: .*connect"):
            await at(url).open()


async def test_a_server_that_goes_away_and_comes_back_is_found_again(at: Callable[..., McpServer]) -> None:
    played = Played()
    runner = await served(played)
    server = at(played.url)
    assert not (await server.call("echo", {})).is_error
    await runner.cleanup()
    assert (await server.call("echo", {})).is_error
    runner = await served(played, int(played.url.split(":")[2].split("/")[0]))
    assert not (await server.call("echo", {})).is_error
    await server.close()
    await runner.cleanup()
