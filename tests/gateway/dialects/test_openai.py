from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.asgi import decoded
from callgate.gateway.dialect import Talk, Wish, Writer
from callgate.gateway.dialects.openai import OPENAI
from callgate.runtime import Said
from callgate.vocabulary import (
    AssistantDelta,
    Done,
    Event,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
    UsageError,
)

TALKS = {route.path: route.action for route in OPENAI.routes if isinstance(route.action, Talk)}
CHAT = "/v1/chat/completions"
HELLO = {"messages": [{"role": "user", "content": "hello"}]}
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = (
    *("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "stream", "prompt", "n"),
    *("stream_options", "max_tokens", "temperature", "stop", "reasoning_effort", "seed", "strange"),
)
EVENTS = st.lists(
    st.one_of(
        st.builds(AssistantDelta, st.text()),
        st.builds(ThinkingDelta, st.text()),
        st.builds(
            lambda id_, name, arguments: ToolCallEvent(ToolCall(id_, name, arguments)),
            st.text(min_size=1),
            st.text(min_size=1),
            st.dictionaries(st.text(), JSONS, max_size=3),
        ),
    ),
    max_size=6,
)


def read(body: dict[str, Any], path: str = CHAT) -> Wish:
    action = TALKS[path]
    return action.read(*decoded(json.dumps(body).encode(), action.body, nesting=64))


def streamed(writer: Writer, events: list[Event]) -> list[Any]:
    sent = b"".join([*(writer.feed(event) for event in events), writer.end(None)])
    said = [part.removeprefix(b"data: ") for part in sent.split(b"\n\n") if part]
    assert said.pop() == b"[DONE]"
    return [json.loads(part) for part in said]


def test_a_request_says_all_that_it_says() -> None:
    wish = read(
        {
            "model": "m",
            "messages": [
                {"role": "developer", "content": "be brief"},
                {"role": "user", "content": [{"type": "text", "text": "look"}, _picture()]},
                {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [_call()]},
                {"role": "tool", "tool_call_id": "c1", "content": "391"},
            ],
            "tools": [{"type": "function", "function": {"name": "multiply"}}],
            "tool_choice": {"type": "function", "function": {"name": "multiply"}},
            "parallel_tool_calls": False,
            "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
            "max_completion_tokens": 7,
            "temperature": 0,
            "stop": ["x"],
            "reasoning_effort": "minimal",
            "stream": True,
            "logit_bias": {"5": 1},
        }
    )
    request = wish.request
    assert (wish.model, wish.stream) == ("m", True)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "tool"]
    assert request.messages[1].images[0].data == b"x"
    assert request.messages[2].thinking == "hm"
    assert request.messages[2].calls[0].arguments == {"a": 17}
    assert request.tool_choice == "multiply"
    assert request.parallel_tool_calls is False
    assert request.schema == {"type": "object"}
    assert (request.max_tokens, request.think) == (7, "low")
    assert request.options == {"temperature": 0, "stop": ["x"]}
    assert request.extra == {"logit_bias": {"5": 1}}
    assert request.stream, "whoever doesn't stream can't be stopped"


def test_effort_is_said_in_either_form_and_usage_only_where_it_is_asked_for() -> None:
    wish = read({**HELLO, "reasoning": {"effort": "none"}})
    assert wish.request.think is False
    assert not any("usage" in chunk for chunk in streamed(wish.writer("m"), [AssistantDelta("x"), Done("stop")]))


def test_nothing_that_the_gate_decides_travels_unread() -> None:
    wish = read({"prompt": "x", "tools": [{}], "messages": [], "tool_choice": "required"}, "/v1/completions")
    assert wish.request.extra == {}
    assert wish.request.tools == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": []},
        {**HELLO, "n": 2},
        {**HELLO, "logprobs": True},
        {**HELLO, "top_logprobs": 2},
        {**HELLO, "reasoning": {"effort": "huge"}},
        {**HELLO, "tool_choice": "multiply"},
        {**HELLO, "response_format": {"type": "xml"}},
        {**HELLO, "reasoning_effort": "huge"},
        {**HELLO, "tools": [{"type": "function"}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}]},
    ],
)
def test_what_cannot_be_done_is_said(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read(wrong)


@given(st.sampled_from(sorted(TALKS)), st.dictionaries(st.sampled_from(FIELDS), JSONS))
def test_any_request_is_read_or_refused(path: str, body: dict[str, Any]) -> None:
    try:
        wish = read(body, path)
    except UsageError:
        return
    assert wish.request.messages


@given(EVENTS, st.sampled_from(["stop", "length"]))
def test_pieces_and_whole_say_the_same(events: list[Event], reason: Any) -> None:
    every = [*events, Usage(3, 4), Done(reason)]
    wish = read({**HELLO, "stream_options": {"include_usage": True}})
    *chunks, usage = streamed(wish.writer("m"), every)
    said = Said()
    for event in every:
        said.hear(event)
    whole: Any = wish.writer("m").whole(said, None)
    whole = json.loads(msgspec.json.encode(whole))
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    message = whole["choices"][0]["message"]
    assert [delta["role"] for delta in deltas if "role" in delta] == ["assistant"]
    assert "role" in deltas[0]
    assert "".join(delta.get("content", "") for delta in deltas) == (message["content"] or "")
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == message.get("reasoning_content", "")
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert [call.pop("index") for call in calls] == list(range(len(calls)))
    assert calls == message.get("tool_calls", [])
    assert chunks[-1]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
    assert usage["usage"] == whole["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert all(chunk["usage"] is None for chunk in chunks), "as OpenAI does where it is asked for"
    assert len({chunk["id"] for chunk in (*chunks, usage)}) == 1


def test_a_completion_is_text_alone() -> None:
    wish = read({"prompt": ["say hello"], "max_tokens": 3}, "/v1/completions")
    assert wish.request.messages[0].content == "say hello"
    chunks = streamed(wish.writer("m"), [AssistantDelta("Hel"), AssistantDelta("lo"), Done("length")])
    assert [chunk["choices"][0]["text"] for chunk in chunks] == ["Hel", "lo", ""]
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"


def _picture() -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


def _call() -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": "multiply", "arguments": '{"a": 17}'}}
