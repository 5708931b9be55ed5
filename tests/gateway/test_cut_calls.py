"""A call that the end of an answer cuts in half: nobody may be able to run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgate.gateway import Options
from callgate.vocabulary import AssistantDelta, Done, Event, ToolCall, ToolCallEvent
from tests.gateway.running import MULTIPLY, gateway, recording

WHOLE = ToolCallEvent(ToolCall("1", "multiply", {"a": 2, "b": 3}))
HALF = ToolCallEvent(ToolCall("2", "multiply", '{"a": 17, "b":'))
FUNCTION: dict[str, Any] = MULTIPLY["function"]  # type: ignore[assignment]
SAID = {"messages": [{"role": "user", "content": "What is 17 times 23?"}]}
ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {**SAID, "tools": [MULTIPLY]},
    "/v1/messages": {**SAID, "max_tokens": 22, "tools": [{"name": "multiply", "input_schema": FUNCTION["parameters"]}]},
    "/v1/responses": {"input": "What is 17 times 23?", "tools": [{"type": "function", **FUNCTION}]},
    "/api/chat": {**SAID, "tools": [MULTIPLY]},
}
SIGNS = {
    "/v1/chat/completions": '"finish_reason":"length"',
    "/v1/messages": '"stop_reason":"max_tokens"',
    "/v1/responses": '"status":"incomplete"',
    "/api/chat": '"done_reason":"length"',
}
IDS = {"/v1/chat/completions": '"id":"1"', "/v1/messages": '"id":"1"', "/v1/responses": '"call_id":"1"'}
every_dialect = pytest.mark.parametrize("path", list(ASKED))


@every_dialect
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "said",
    [
        (HALF, Done("length")),
        (AssistantDelta('<tool_call>{"name": "multiply", "arg'), Done("length")),
        (AssistantDelta('<tool_call>{"name": "multiply", "arguments": {"a": 17, "b": 2'), Done("length")),
    ],
    ids=["native", "in words", "in words, and closed by us"],
)
async def test_half_a_call_is_not_handed_out(path: str, stream: bool, said: tuple[Event, ...], tmp_path: Path) -> None:
    log = tmp_path / "log"
    model = recording(tmp_path / "said", said)
    async with gateway(Options(explain=True, model=model, access_log=str(log))) as served:
        answer = await served.post(path, {**ASKED[path], "stream": stream})
        assert answer.status == 200
        text = answer.body.decode()
        assert SIGNS[path] in text
        assert '"kind":"call_cut_off"' in text
        # What a response tells of its request has the tool's name, too.
        for sign in ('"tool_use"', '"function_call"', '"tool_calls":[{', "<tool_call>", "17, "):
            assert sign not in text.replace("What is 17 times 23?", "")


@every_dialect
@pytest.mark.parametrize("stream", [False, True])
async def test_the_whole_calls_before_it_are(path: str, stream: bool, tmp_path: Path) -> None:
    model = recording(tmp_path / "said", (WHOLE, HALF, Done("length")))
    async with gateway(Options(model=model)) as served:
        text = (await served.post(path, {**ASKED[path], "stream": stream})).body.decode()
        assert SIGNS[path] in text
        assert IDS.get(path, '"name":"multiply"') in text
        assert "17, " not in text  # with a space, for dates have none


async def test_a_call_that_only_does_not_fit_is_the_clients_to_judge(tmp_path: Path) -> None:
    model = recording(tmp_path / "said", (ToolCallEvent(ToolCall("1", "multiply", {"a": 2})), Done("tool_calls")))
    async with gateway(Options(model=model)) as served:
        answer = (await served.post("/v1/chat/completions", ASKED["/v1/chat/completions"])).json
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"a": 2}
        assert answer["choices"][0]["finish_reason"] == "tool_calls"
