from __future__ import annotations

import asyncio
import json
import logging
import os

import pytest

from callgate.runtime.mcp.listing import MOST_TOOLS
from callgate.runtime.mcp.server import McpLimits, McpServer
from callgate.runtime.mcp.server_spec import StdioSpec
from callgate.runtime.tool_source import Outcome, ToolSource
from callgate.vocabulary import Image, ToolServerFailed
from tests.runtime.mcp.conftest import Raw

QUICK = McpLimits(start=20, call=20, listing=20, restarts=2)


def name_list(server: McpServer) -> list[str]:
    return list(server._tools)


async def test_a_server_is_a_source_of_tools(raw: Raw) -> None:
    source: ToolSource = raw()
    tools = {tool.name: tool for tool in await source.tools()}
    assert tools["echo"].description == "It is echo."
    assert tools["echo"].parameters["type"] == "object"
    assert await source.call("echo", {"a": [1, "ü"]}) == Outcome('{"a": [1, "\\u00fc"]}')
    assert not source.is_harmless("echo")
    await source.close()


async def test_all_pages_are_read(raw: Raw) -> None:
    assert [tool.name for tool in await raw("pages").tools()] == ["echo", "crash", "hang", "big", "fail"]


@pytest.mark.parametrize("how", ["endless", "circle"])
async def test_a_list_without_an_end_is_cut_off(raw: Raw, how: str) -> None:
    server = raw(how)
    assert 1 <= len(await server.tools()) <= MOST_TOOLS
    assert "doesn't end" in server.notices[0]


async def test_ten_thousand_tools_are_too_many(raw: Raw) -> None:
    server = raw("many")
    assert len(await server.tools()) == MOST_TOOLS
    assert len(server.notices) == 1
    assert "more than 1,000 tools" in server.notices[0]


async def test_tools_that_are_no_good_are_left_out_and_named(raw: Raw) -> None:
    told: list[str] = []
    server = raw("bad", told=told.append)
    assert [tool.name for tool in await server.tools()] == ["echo", "fail"]
    assert tuple(told) == server.notices
    assert len(told) == 10
    for name in ("no_schema", "array", "wrong", "bare", r"bell\x07", "second tool 'echo'"):
        assert sum(name in line for line in told) == 1
    assert all(line.isprintable() for line in told)
    # A schema for results which is costly to check is none of our business.
    assert not (await server.call("echo", {"result": "a" * 40 + "!"})).is_error


async def test_a_list_that_is_none_leaves_no_tools(raw: Raw) -> None:
    server = raw("nothing")
    assert await server.tools() == ()
    assert "no list" in server.notices[0]


async def test_a_changed_list_is_listed_again(raw: Raw) -> None:
    server = raw()
    assert "grown" not in [tool.name for tool in await server.tools()]
    await server.call("grow", {})
    assert "grown" in [tool.name for tool in await server.tools()]


async def test_what_tools_say_becomes_words_and_pictures(raw: Raw) -> None:
    server = raw()
    assert await server.call("fail", {}) == Outcome("the disk is full", is_error=True)
    assert await server.call("structured", {}) == Outcome('{"degrees":21}')
    assert await server.call("both", {}) == Outcome('{"degrees": 21}')
    picture = await server.call("picture", {})
    assert picture.images == (Image(b"\x89PNG\r\n\x1a\n", "image/png"),)
    assert picture.content.splitlines() == [
        "look:",
        "[image/png: left out]",
        "[audio/wav, 3 bytes: left out]",
        "[resource log: file:///log (text/plain)]",
        "[resource file:///a]",
        "inside",
        "[resource file:///b, a/b, 3 bytes: left out]",
    ]


async def test_a_refused_call_says_why_without_control_characters(raw: Raw) -> None:
    said = await raw().call("refuse", {})
    assert said == Outcome("error: the tool 'refuse' failed: no [31m such thing", is_error=True)


async def test_a_tool_that_there_is_not_is_not_asked_for(raw: Raw) -> None:
    assert await raw().call("nothing", {}) == Outcome("error: the server 'raw' has no tool 'nothing'", is_error=True)


async def test_nonsense_fails_the_call_and_no_other(raw: Raw) -> None:
    server = raw()
    assert (await server.call("odd", {})).is_error
    assert (await server.call("garbage", {})).content == "after garbage"
    assert not (await server.call("echo", {})).is_error


async def test_ten_megabytes_arrive(raw: Raw) -> None:
    assert len((await raw().call("big", {})).content) == 10_000_000


TOO_LONG = 20_000_000


@pytest.mark.parametrize("tool", ["big", "backwards"])
async def test_an_answer_that_is_too_long_is_passed_over_and_the_model_told(raw: Raw, tool: str) -> None:
    told: list[str] = []
    server = raw(limits=McpLimits(call=60, restarts=1), told=told.append)
    for _ in range(3):
        said = await server.call(tool, {"size": TOO_LONG})
        assert said == Outcome(
            f"error: the tool {tool!r} failed: its answer has more than 16,777,216 bytes, which is too much: "
            "ask it for less",
            is_error=True,
        )
    assert not (await server.call("echo", {})).is_error
    assert told == []


async def test_what_is_too_long_and_no_answer_costs_nothing(raw: Raw) -> None:
    assert (await raw(limits=McpLimits(call=60)).call("long_notice", {"size": TOO_LONG})).content == "after it"


async def test_an_answer_that_is_too_long_and_nobodys_ends_the_server_and_the_model_is_not_asked_to_try_again(
    raw: Raw,
) -> None:
    server = raw(limits=McpLimits(call=60))
    said = await server.call("nameless", {"size": TOO_LONG})
    assert said.is_error
    assert "too long" in said.content
    assert "again" not in said.content
    assert not (await server.call("echo", {})).is_error


async def test_a_message_without_an_end_ends_the_server_and_not_us(raw: Raw) -> None:
    server = raw(limits=McpLimits(call=60))
    said = await server.call("endless_line", {})
    assert said.is_error
    assert "too long" in said.content
    assert "sent a message of more than" in server.log_text()
    assert not (await server.call("echo", {})).is_error


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(raw: Raw) -> None:
    server = raw(limits=McpLimits(call=1))
    await server.open()
    said = await server.call("hang", {})
    assert said == Outcome("error: the tool 'hang' took longer than 1 s, and was stopped", is_error=True)
    assert (await server.call("cancelled", {})).content == '["hang"]'


async def test_a_cancelled_call_tells_the_server_and_breaks_nothing(raw: Raw) -> None:
    server = raw()
    await server.open()
    calls = [asyncio.create_task(server.call("hang", {})) for _ in range(3)]
    assert not (await server.call("echo", {})).is_error  # by then, they are under way
    for call in calls:
        call.cancel()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    assert (await server.call("cancelled", {})).content == '["hang", "hang", "hang"]'


async def test_a_server_that_no_longer_reads_holds_no_call_for_ever(raw: Raw) -> None:
    server = raw(limits=McpLimits(call=1))
    await server.open()
    await server.call("deaf", {})
    said = await asyncio.gather(*(server.call("echo", {"a": "x" * 200_000}) for _ in range(3)))
    assert all("took longer" in one.content for one in said)


async def test_calls_run_side_by_side(raw: Raw) -> None:
    server = raw()
    said = await asyncio.gather(*(server.call("echo", {"n": number}) for number in range(20)))
    assert [json.loads(one.content)["n"] for one in said] == list(range(20))


async def test_after_a_crash_it_is_started_again(raw: Raw) -> None:
    told: list[str] = []
    server = raw(told=told.append)
    hanging = asyncio.create_task(server.call("hang", {}))
    await server.call("echo", {})
    said = await server.call("crash", {})
    assert said.is_error
    assert said.content.startswith("error: the server 'raw' failed while it ran the tool 'crash'")
    assert (await hanging).is_error
    assert not (await server.call("echo", {})).is_error
    (line,) = told
    assert line == ("the MCP server 'raw' ended, and is started again: it hurts, says the key … [ended with status 3]")
    assert server.state == "running"


async def test_a_server_that_keeps_crashing_is_given_up(raw: Raw) -> None:
    server = raw(limits=QUICK)
    for _ in range(3):
        assert "failed while it ran" in (await server.call("crash", {})).content
    assert "keeps ending" in (await server.call("crash", {})).content
    assert server.state == "given up"
    await server.open()  # until somebody says so
    assert not (await server.call("echo", {})).is_error


async def test_standard_error_is_kept_off_the_screen(raw: Raw, capfd: pytest.CaptureFixture[str]) -> None:
    server = raw()
    await server.call("crash", {})
    await server.call("garbage", {})
    await server.close()
    assert capfd.readouterr() == ("", "")
    assert "hello from the raw server" in server.log_text()
    assert "sesame" not in server.log_text()


async def test_a_server_that_does_not_start_says_why(raw: Raw) -> None:
    with pytest.raises(ToolServerFailed, match=r"'raw' didn't start: ImportError: no module named 'nothing' \[ended"):
        await raw("broken").open()


async def test_a_server_that_does_not_answer_is_not_waited_for(raw: Raw) -> None:
    with pytest.raises(ToolServerFailed, match="didn't answer within 1 s; the last that it said: hello"):
        await raw("silent", limits=McpLimits(start=1)).open()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (StdioSpec(name="a", command="no-such-program-here"), "there is no program 'no-such-program-here'"),
        (StdioSpec(name="a", command="./no/such"), "can't be started: No such file"),
        (StdioSpec(name="a", command="true", cwd="/no/such/folder"), "No such file"),
    ],
)
async def test_a_program_that_is_not_there_is_named(spec: StdioSpec, words: str) -> None:
    with pytest.raises(ToolServerFailed, match=words):
        await McpServer(spec, QUICK).open()


async def test_a_server_gets_its_own_variables_and_few_of_ours(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    seen = json.loads((await raw().call("environment", {})).content)
    assert seen["KEY"] == "sesame-street"
    assert seen["PATH"] == os.environ["PATH"]
    assert "OPENAI_API_KEY" not in seen


async def test_arguments_never_reach_a_log(raw: Raw, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = raw()
    await server.call("echo", {"password": "hunter2"})
    await server.call("refuse", {"password": "hunter2"})
    assert "failed" in caplog.text
    assert "hunter2" not in caplog.text


async def test_closing_does_not_wait_for_an_opening(raw: Raw) -> None:
    for heard in ("", "hello"):
        server = raw("silent", limits=McpLimits(start=600))
        opening = asyncio.create_task(server.open())
        await asyncio.sleep(0)
        while heard not in server.log_text():  # noqa: ASYNC110 - a thread hears it, and tells nobody
            await asyncio.sleep(0.01)
        await server.close()
        with pytest.raises(ToolServerFailed):
            await opening
        assert server.state == "closed"


async def test_a_cancelled_opening_leaves_no_process(raw: Raw) -> None:
    server = raw("silent")
    opening = asyncio.create_task(server.open())
    while "hello" not in server.log_text():  # noqa: ASYNC110 - a thread hears it, and tells nobody
        await asyncio.sleep(0.01)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert server.state == "ended"
