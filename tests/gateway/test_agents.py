"""What coding agents really send, in either of their dialects, against the application on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from callgate.gateway import Options
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta, ToolCall, ToolCallEvent, Usage
from tests.gateway.dialects.test_anthropic import events_of
from tests.gateway.running import Answered, Gateway, PlayedServer, gateway, recording

MESSAGES, RESPONSES = "/v1/messages", "/v1/responses"
ASKED: dict[str, dict[str, Any]] = {
    MESSAGES: {"max_tokens": 32_000, "messages": [{"role": "user", "content": "hello"}]},
    RESPONSES: {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}]},
}
SEARCH: dict[str, list[dict[str, Any]]] = {
    MESSAGES: [{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}],
    RESPONSES: [{"type": "web_search", "external_web_access": False}],
}
ANSWER: tuple[Event, ...] = (AssistantDelta("Hel"), AssistantDelta("lo"), Usage(3, 2), Done("stop"))
CALLED: tuple[Event, ...] = (ToolCallEvent(ToolCall("c1", "multiply", {"a": 17, "b": 23})), Done("tool_calls"))
both = pytest.mark.parametrize("path", [MESSAGES, RESPONSES])


def said(path: str, answer: Any) -> str:
    blocks = answer["content"] if path == MESSAGES else [part for item in answer["output"] for part in item["content"]]
    return "".join(block["text"] for block in blocks)


def told(path: str, answer: Answered) -> Iterable[str]:
    """The type of each event, in short."""
    return [event["type"].removeprefix("response.") for event in events_of(answer.body)]


@both
async def test_errors_come_in_the_words_of_the_path(path: str) -> None:
    async with gateway(Options(keys=("secret",))) as served:
        refused = [
            await served.post(path, ASKED[path]),
            await served.post(path, ASKED[path], X_Api_Key="wrong"),
            await served.post(path, b"[]", X_Api_Key="secret"),
            await served.get(f"{path}/nowhere", X_Api_Key="secret"),
            await served.ask("PUT", path, X_Api_Key="secret"),
            await served.post(path, {**ASKED[path], "model": "nothing"}, X_Api_Key="secret"),
        ]
        assert [answer.status for answer in refused] == [401, 401, 400, 404, 405, 404]
        for answer in refused:
            assert (answer.json.get("type") == "error") is (path == MESSAGES)
            assert answer.json["error"]["message"]
        either = await served.get("/v1/models", Authorization="Bearer wrong", X_Api_Key="secret")
        assert either.status == 200, "some agents send both"


async def test_models_are_listed_as_the_client_knows_them(tmp_path: Path) -> None:
    options = Options(aliases={"sonnet": recording(tmp_path / "said", ANSWER)})
    async with gateway(options) as served:
        for path in ("/v1/models", "/v1/models/sonnet"):
            assert (await served.get(path)).json["object"] in ("list", "model")
        listed = (await served.get("/v1/models", anthropic_version="2023-06-01")).json
        assert "sonnet" in [model["id"] for model in listed["data"]]
        assert (listed["has_more"], listed["first_id"]) == (False, listed["data"][0]["id"])
        one = (await served.get("/v1/models/sonnet", anthropic_version="2023-06-01")).json
        assert (one["type"], one["id"]) == ("model", "sonnet")
        missing = await served.get("/v1/models/nothing", anthropic_version="2023-06-01")
        assert (missing.status, missing.json["error"]["type"]) == (404, "not_found_error")
        assert (await served.post(MESSAGES, ASKED[MESSAGES], anthropic_version="2023-06-01")).status != 404


@both
async def test_an_agent_is_answered_whatever_else_it_sends(path: str, tmp_path: Path) -> None:
    body = {
        **ASKED[path],
        "tools": SEARCH[path],
        "thinking": {"type": "adaptive"},
        "metadata": {"user_id": "me"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "client_metadata": {"x": "y"},
        "service_tier": "auto",
        "something": [1, {"new": None}],
    }
    options = Options(explain=True, model=recording(tmp_path / "said", ANSWER, ANSWER))
    async with gateway(options) as served:
        beta = {"anthropic_beta": "claude-code-20250219,interleaved-thinking-2025-05-14", "OpenAI_Beta": "responses=x"}
        whole = await served.post(f"{path}?beta=true", body, **beta)
        assert said(path, whole.json) == "Hello"
        (notice,) = whole.json["callgate"]["notices"]
        assert (notice["kind"], "web_search" in notice["message"]) == ("tools_left_out", True)
        pieces = await served.post(path, {**body, "stream": True}, **beta)
        assert pieces.headers["content-type"] == "text/event-stream"
        counted = (await served.get("/metrics")).body.decode()
        assert 'kind="tools_left_out"' in counted


async def test_events_have_the_names_and_the_order_that_clients_want(tmp_path: Path) -> None:
    thought: tuple[Event, ...] = (ThinkingDelta("hm"), *ANSWER[:2], CALLED[0], Done("tool_calls"))
    options = Options(model=recording(tmp_path / "said", thought, thought))
    async with gateway(options) as served:
        answer = await served.post(MESSAGES, {**ASKED[MESSAGES], "stream": True})
        block = ("content_block_start", "content_block_delta")
        assert told(MESSAGES, answer) == [
            *("message_start", "ping"),
            *(*block, "content_block_delta", "content_block_stop"),
            *(*block, "content_block_delta", "content_block_stop"),
            *(*block, "content_block_stop"),
            *("message_delta", "message_stop"),
        ]
        answer = await served.post(RESPONSES, {**ASKED[RESPONSES], "stream": True})
        assert told(RESPONSES, answer) == [
            *("created", "in_progress"),
            *("output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"),
            *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
            *("output_item.added", "content_part.added", "output_text.delta", "output_text.delta"),
            *("output_text.done", "content_part.done", "output_item.done"),
            *("output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"),
            "completed",
        ]


@both
@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_that_cannot_think_answers_all_the_same(path: str, stream: bool, tmp_path: Path) -> None:
    cannot = {"error": {"type": "CannotThink", "message": "it can't think", "hint": None}}
    options = Options(explain=True, model=recording(tmp_path / "said", [cannot], ANSWER))
    wanted = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "reasoning": {"effort": "high"}}
    async with gateway(options) as served:
        answer = await served.post(path, {**ASKED[path], **wanted, "stream": stream})
        assert answer.status == 200
        assert b"cannot_think" in answer.body


@both
async def test_tokens_are_counted_and_an_estimate_says_so(path: str, tmp_path: Path) -> None:
    counter = f"{path}/{'count_tokens' if path == MESSAGES else 'input_tokens'}"
    async with gateway(Options(model=recording(tmp_path / "said", ANSWER))) as served:
        short = await served.post(counter, ASKED[path])
        assert short.status == 200
        assert short.json["callgate"] == {"estimate": True}
        tool = {"name": "x", "description": "word " * 1_000, "input_schema": {"type": "object"}}
        longer = await served.post(counter, {**ASKED[path], "tools": [tool]})
        assert longer.json["input_tokens"] > short.json["input_tokens"] + 1_000
        wrong = await served.post(counter, {**ASKED[path], "model": "nothing"})
        assert wrong.status == 404


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_is_gone_on_from_as_soon_as_it_is_seen(stream: bool) -> None:
    played = PlayedServer()
    played.go_on.set()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        first = await _responded(served, {"instructions": "be brief", "input": "one", "stream": stream})
        second = await _responded(served, {"input": "two", "previous_response_id": first, "stream": stream})
        named = [{"type": "item_reference", "id": f"msg_{second.removeprefix('resp_')}_0"}, {"role": "user"}]
        await _responded(served, {"input": named, "stream": stream, "store": False})
        said = [[(each["role"], each["content"]) for each in asked["messages"]] for asked in played.asked]
        assert said[0] == [("system", "be brief"), ("user", "one")]
        assert said[1] == [("user", "one"), ("assistant", "Once"), ("user", "two")]
        assert said[2] == [("assistant", "Once"), ("user", "")]
        assert (await served.get(f"{RESPONSES}/{first}")).json["id"] == first
        assert (await served.ask("DELETE", f"{RESPONSES}/{first}")).json["deleted"] is True
        gone = await served.post(RESPONSES, {"input": "three", "previous_response_id": first})
        assert (gone.status, gone.json["error"]["code"]) == (400, "previous_response_not_found")
        assert (await served.post(RESPONSES, {"input": "x", "previous_response_id": second})).status == 200


async def _responded(served: Gateway, body: dict[str, Any]) -> str:
    answer = await served.post(RESPONSES, body)
    assert answer.status == 200
    response = events_of(answer.body)[-1]["response"] if body["stream"] else answer.json
    assert response["status"] == "completed"
    id_: str = response["id"]
    is_kept = (await served.get(f"{RESPONSES}/{id_}")).status == 200
    assert is_kept is (body.get("store") is not False)
    return id_


@both
async def test_a_stream_that_nobody_reads_any_more_is_ended(path: str) -> None:
    played = PlayedServer()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        async with served.http.post(served.url + path, json={**ASKED[path], "stream": True}) as response:
            await response.content.readany()
            response.close()
        async with asyncio.timeout(20):
            await played.was_left.wait()


@both
async def test_an_upstream_that_breaks_off_is_told_in_the_stream(path: str) -> None:
    played = PlayedServer()
    played.breaks_off = True
    played.go_on.set()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        answer = await served.post(path, {**ASKED[path], "stream": True})
        last = events_of(answer.body)[-1]
        problem = last["error"] if path == MESSAGES else last["response"]["error"]
        assert "without a word" in problem["message"]
        assert last["type"] == ("error" if path == MESSAGES else "response.failed")
        assert (await served.post(path, ASKED[path])).status == 502
