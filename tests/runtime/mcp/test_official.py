"""A server of the official package's: its pages, its changes and its pictures, over both ways to reach one."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from callgate.runtime.mcp.server import McpServer
from callgate.runtime.mcp.server_spec import HttpSpec, ServerSpec, StdioSpec
from callgate.settings import Secret
from callgate.vocabulary import Image
from tests.runtime.agents import ALL, Script, calls, play, says, script
from tests.runtime.mcp.official_server import picture

__all__ = ["script"]

OFFICIAL = str(Path(__file__).with_name("official_server.py"))
PAGES = ["grow", "shrink", "picture", *(f"tool_{number}" for number in range(3, 7))]


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
    running = subprocess.Popen([sys.executable, OFFICIAL, str(number)])
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", number)).close()
            break
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    yield number
    running.kill()
    running.wait()


@pytest.fixture(params=["stdio", "http"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[McpServer]:
    spec: ServerSpec
    if request.param == "http":
        spec = HttpSpec(name="official", url=Secret(f"http://127.0.0.1:{request.getfixturevalue('port')}/mcp"))
    else:
        spec = StdioSpec(name="official", command=sys.executable, args=(OFFICIAL, "stdio"))
    made = McpServer(spec)
    yield made
    await made.close()


async def names(server: McpServer) -> list[str]:
    return [tool.name for tool in await server.tools()]


async def until(server: McpServer, wanted: list[str]) -> None:
    """News of a change may come a moment after the answer to the call that made it."""
    async with asyncio.timeout(20):
        while await names(server) != wanted:  # noqa: ASYNC110 - it is told to nobody else
            await asyncio.sleep(0.01)


async def test_all_pages_are_there_and_what_changes_is_listed_again(server: McpServer) -> None:
    assert await names(server) == PAGES
    assert (await server.call("tool_6", {})).content == "tool_6 is done"
    await server.call("grow", {})
    await until(server, [*PAGES, "grown"])
    assert (await server.call("grown", {})).content == "grown is done"
    await server.call("shrink", {})
    await until(server, [*PAGES[:-1], "grown"])
    assert (await server.call("tool_6", {})).is_error
    assert server.notices == ()


async def test_a_picture_is_a_picture(server: McpServer) -> None:
    shown = await server.call("picture", {})
    assert (shown.content, shown.images) == ("a square", (Image(picture(), "image/png"),))


async def test_a_model_can_call_in_the_same_answer_what_its_call_has_brought(server: McpServer, script: Script) -> None:
    class Patient:
        """Gives a change the moment that it takes to be heard of."""

        name = "official"

        def __getattr__(self, name: str) -> object:
            return getattr(server, name)

        async def call(self, name: str, arguments: dict[str, object]) -> object:
            outcome = await server.call(name, arguments)
            if name == "grow":
                await until(server, [*PAGES, "grown"])
            if name == "shrink":
                await until(server, [*PAGES[:-1], "grown"])
            return outcome

    model = script(calls(("grow", {})), calls(("grown", {}), ("shrink", {})), calls(("tool_6", {})), says("all done"))
    played = await play(model, Patient(), permissions=ALL)
    assert [[tool.name for tool in request.tools] for request in played.requests] == [
        PAGES,
        [*PAGES, "grown"],
        [*PAGES[:-1], "grown"],
        [*PAGES[:-1], "grown"],
    ]
    assert played.results[:3] == ["grow is done", "grown is done", "shrink is done"]
    assert played.results[3].startswith("error: ")
    assert (played.text, played.ended) == ("all done", "answered")
