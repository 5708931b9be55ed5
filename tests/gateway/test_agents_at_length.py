"""Agents that have been at it for long: a hundred tools, hundreds of turns, results all at once, answers broken off."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from callgate.gate.pairing import INTERRUPTED
from callgate.gateway import Options
from callgate.vocabulary import AssistantDelta, Done, Event
from tests.gateway.running import PlayedServer, gateway, no_servers, recording

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
ANSWER: tuple[Event, ...] = (AssistantDelta("Hello"), Done("stop"))
every_dialect = pytest.mark.parametrize("path", [CHAT, MESSAGES, RESPONSES])
both_ways = pytest.mark.parametrize("strategy", ["native", "emulate"])

Call = tuple[str, str | None]
"""Its id, and its result."""


def asked(path: str, turns: list[tuple[str, list[Call]]], tools: int = 3, length: int = 50) -> dict[str, Any]:
    """In each turn the user says something, and the model makes calls, whose results come in the opposite order."""
    listed: list[Any] = []
    for said, calls in turns:
        there = [call for call in reversed(calls) if call[1] is not None]
        match path:
            case "/v1/messages":
                uses = [{"type": "tool_use", "id": id_, "name": "tool_1", "input": {"x": id_}} for id_, _ in calls]
                results = [{"type": "tool_result", "tool_use_id": id_, "content": result} for id_, result in there]
                listed.append({"role": "user", "content": said})
                listed.append({"role": "assistant", "content": [{"type": "text", "text": "well"}, *uses]})
                listed += [{"role": "user", "content": results}] if results else []
            case "/v1/responses":
                listed.append({"role": "user", "content": said})
                listed += [
                    {"type": "function_call", "call_id": id_, "name": "tool_1", "arguments": json.dumps({"x": id_})}
                    for id_, _ in calls
                ]
                listed += [{"type": "function_call_output", "call_id": id_, "output": result} for id_, result in there]
            case _:
                made = [{"id": id_, "function": {"name": "tool_1", "arguments": {"x": id_}}} for id_, _ in calls]
                listed += [{"role": "user", "content": said}, {"role": "assistant", "content": "", "tool_calls": made}]
                listed += [{"role": "tool", "tool_call_id": id_, "content": result} for id_, result in there]
    listed.append({"role": "user", "content": "and now?"})
    schema = {"type": "object", "properties": {"x": {"type": "string", "description": "what " * length}}}
    about = [(f"tool_{number}", "It does something. " * length) for number in range(tools)]
    match path:
        case "/v1/messages":
            own = [{"name": name, "description": said, "input_schema": schema} for name, said in about]
            return {"max_tokens": 9, "messages": listed, "tools": own}
        case "/v1/responses":
            own = [
                {"type": "function", "name": name, "description": said, "parameters": schema} for name, said in about
            ]
            return {"input": listed, "tools": own}
    functions = [{"name": name, "description": said, "parameters": schema} for name, said in about]
    return {"messages": listed, "tools": [{"type": "function", "function": function} for function in functions]}


async def passed_on(path: str, strategy: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the server behind gets."""
    played = PlayedServer()
    played.go_on.set()
    settings = no_servers(tools__strategy=strategy)
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow"), settings) as served:
        answer = await served.post(path, {**body, "stream": True})
        assert answer.status == 200, answer.body
    (request,) = played.asked
    return request


@every_dialect
@both_ways
async def test_a_hundred_tools_with_long_descriptions_go_through(path: str, strategy: str) -> None:
    request = await passed_on(path, strategy, asked(path, [], tools=100, length=400))
    if strategy == "native":
        assert [tool["function"]["name"] for tool in request["tools"]] == [f"tool_{number}" for number in range(100)]
        assert len(request["tools"][0]["function"]["description"]) > 7_000
    else:
        told = request["messages"][0]["content"]
        assert told.count("- tool_") == 100
        assert len(told) < 100_000, "of long descriptions, the start is told"


@every_dialect
@both_ways
async def test_hundreds_of_turns_go_through_with_every_result_behind_its_call(path: str, strategy: str) -> None:
    talk: list[tuple[str, list[Call]]] = [
        (f"question {n}", [(f"id_{n}_{m}", f"result {n} {m}") for m in range(3)]) for n in range(300)
    ]
    request = await passed_on(path, strategy, asked(path, talk))
    messages = request["messages"]
    if strategy == "native":
        calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        results = [(each["tool_call_id"], each["content"]) for each in messages if each["role"] == "tool"]
        assert calls == [id_ for _, made in talk for id_, _ in made]
        assert results == [call for _, made in talk for call in made], "in the order of the calls"
    else:
        roles = [message["role"] for message in messages if message["role"] != "system"]
        assert all(one != other for one, other in pairwise(roles)), "they alternate"
        told = "".join(message["content"] for message in messages)
        assert all(told.count(f">\nresult {n} {m}\n<") == 1 for n in (0, 150, 299) for m in range(3))
        assert told.index("result 7 0") < told.index("result 7 1") < told.index("result 7 2")


@every_dialect
@both_ways
async def test_a_call_whose_result_never_came_is_closed(path: str, strategy: str) -> None:
    talk: list[tuple[str, list[Call]]] = [("one", [("id_1", "result 1"), ("id_2", None)]), ("two", [("id_3", None)])]
    request = await passed_on(path, strategy, asked(path, talk))
    said = [message["content"] or "" for message in request["messages"]]
    assert "".join(said).count(INTERRUPTED) == 2
    assert "".join(said).count("result 1") == 1


UNKNOWN: dict[str, list[dict[str, Any]]] = {
    MESSAGES: [
        {"type": "web_search_20260209", "name": "web_search"},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 10_000},
        {"type": "computer_20251124", "name": "computer", "display_width_px": 1024, "display_height_px": 768},
        {"type": "code_execution_20250825", "name": "code_execution"},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
        {"type": "mcp_toolset", "mcp_server_name": "files"},
    ],
    RESPONSES: [
        {"type": "web_search_preview"},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "image_generation"},
        {"type": "local_shell"},
        {"type": "shell"},
        {"type": "computer_use_preview", "environment": "linux"},
        {"type": "mcp", "server_label": "files", "server_url": "https://example.org"},
    ],
}


@pytest.mark.parametrize("path", [MESSAGES, RESPONSES])
@pytest.mark.parametrize("stream", [False, True])
async def test_every_kind_of_tool_that_only_its_maker_runs_is_named(path: str, stream: bool, tmp_path: Path) -> None:
    body = asked(path, [])
    body["tools"] += UNKNOWN[path]
    async with gateway(Options(explain=True, model=recording(tmp_path / "said", ANSWER))) as served:
        answer = await served.post(path, {**body, "stream": stream})
    assert answer.status == 200
    assert answer.headers["x-callgate-mode"] == "native", "the others are there"
    for tool in UNKNOWN[path]:
        assert f"{tool.get('name') or tool['type']}".encode() in answer.body
    assert b"tools_left_out" in answer.body


@pytest.mark.engine
async def test_a_small_model_finds_its_tool_among_a_hundred(require_engine: None) -> None:
    """All of them are more than it has room for, and it says so; a few are enough."""
    body = asked(MESSAGES, [], tools=100)
    multiply = {
        "name": "multiply",
        "description": "Multiply two numbers.",
        "input_schema": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    }
    body["tools"].insert(60, multiply)
    body |= {"max_tokens": 200, "messages": [{"role": "user", "content": "Multiply 17 and 23."}]}
    async with gateway(Options(model="tiny")) as served:
        refused = await served.post(MESSAGES, body)
        assert refused.status == 400
        assert refused.json["error"]["message"].startswith("prompt is too long")
    async with gateway(Options(model="tiny"), no_servers(tools__limit=2)) as served:
        answer = await served.post(MESSAGES, body)
        assert answer.headers["x-callgate-tools-trimmed"] == "99"
        (use,) = [block for block in answer.json["content"] if block["type"] == "tool_use"]
        assert (use["name"], use["input"]) == ("multiply", {"a": 17, "b": 23})
