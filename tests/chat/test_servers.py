"""Tools of real MCP servers in a chat."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.chat.listening import Listener, chatting
from tests.chat.played_openai import Body, PlayedModels, Reply
from tests.wire.server import serving


async def asks_the_time(reply: Reply, body: Body) -> None:
    results = [message for message in body["messages"] if message["role"] == "tool"]
    if results:
        await reply.text("Zone: " + json.loads(results[-1]["content"])["timezone"])
    else:
        await reply.call("get_current_time", timezone="Asia/Tokyo")


async def test_the_first_turn_has_their_tools_and_one_that_fails_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    time = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "Etc/UTC"]}
    file.write_text(json.dumps({"mcpServers": {"time": time, "gone": {"command": "/nowhere/at/all"}}}))
    played = PlayedModels(clock=asks_the_time)
    view = Listener("y", "always", "y")
    async with serving(*played.routes) as url, chatting(f"{url}/v1#clock", view=view, mcp=(str(file),)) as driver:
        await driver.say("What time is it in Tokyo?")
        assert view.answer == "Zone: Asia/Tokyo"
        assert view.asked[-1].words == "allow? (y/n/always)"
        assert '{"timezone":"Asia/Tokyo"}' in view.asked[-1].before[0]
        assert any("'gone'" in line for line in view.lines_of("warning"))
        await driver.say("/mcp", "/tools")
        assert [server["name"] for server in view.texts[0][2]["servers"]] == ["time"]
        assert list(view.texts[0][2]["failed"]) == ["gone"]
        assert view.texts[1][2]["always"] == ["time/get_current_time"]
        await driver.say("/undo", "What time is it in Tokyo?")
        assert len(view.asked) == 2
        await driver.say("/tools ask time/*", "/mcp restart time", "/undo", "What time is it in Tokyo?")
        assert len(view.asked) == 3
        assert not view.errors


def spec(*words: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": list(words)}


TIME = spec("-m", "mcp_server_time", "--local-timezone", "Etc/UTC")


async def test_tools_that_come_later_are_noticed(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"time": TIME}}))
    async with chatting("tiny", mcp=(str(file),), own_tools=False) as driver:
        view = driver.view
        assert view.told[0][1] == "tiny, as you said · no tools at hand · context 4k"
        await driver.until(lambda: view.lines_of("swap"))
        assert view.lines_of("swap") == ["now tiny · tools native · context 4k"]
        assert view.last_status
        assert view.last_status.mode == "native"


async def test_servers_that_are_still_starting_are_said_to_be(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"slow": spec("-c", "import sys; sys.stdin.read()")}}))
    async with chatting("tiny", mcp=(str(file),)) as driver:
        await driver.say("/mcp", "/tools")
        assert driver.view.texts[0][1] == "still starting: slow"
        assert driver.view.texts[0][2]["starting"] == ["slow"]
        assert driver.view.texts[1][1].endswith("still starting: slow")
        assert driver.view.last_status
        assert driver.view.last_status.doing == "starting 1 MCP server"


async def test_a_name_that_is_taken_costs_nobody_else_their_tools(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"callgate": TIME, "time": TIME}}))
    async with chatting("tiny", mcp=(str(file),)) as driver:
        view = driver.view
        await driver.until(lambda: any(e.source == "time" for e in driver.chat.agent.toolbox.entries))
        await driver.say("/mcp")
        assert [server["name"] for server in view.texts[0][2]["servers"]] == ["time"]
        assert list(view.texts[0][2]["failed"]) == ["callgate"]
        assert any("'callgate'" in line for line in view.lines_of("warning"))
