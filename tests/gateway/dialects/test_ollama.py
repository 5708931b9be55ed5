from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.asgi import decoded
from callgate.gateway.dialect import Embed, ListRunning, Loaded, Talk, Wish
from callgate.gateway.dialects.ollama import OLLAMA, is_no_time
from callgate.runtime import Said
from callgate.vocabulary import AssistantDelta, Done, Event, Usage, UsageError
from tests.gateway.dialects.test_openai import EVENTS, JSONS

TALKS = {route.path: route.action for route in OLLAMA.routes if isinstance(route.action, Talk)}
CHAT, GENERATE = "/api/chat", "/api/generate"
HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
FIELDS = (
    *("model", "messages", "tools", "format", "options", "think", "stream", "keep_alive", "prompt", "system"),
    *("images", "suffix", "raw", "template", "context", "strange"),
)


def read(body: dict[str, Any], path: str = CHAT) -> Wish:
    action = TALKS[path]
    return action.read(*decoded(json.dumps(body).encode(), action.body, nesting=64))


def test_a_request_says_all_that_it_says() -> None:
    wish = read(
        {
            "model": "m",
            "messages": [
                {"role": "user", "content": "look", "images": ["eA=="]},
                {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [_call()]},
                {"role": "tool", "tool_name": "multiply", "content": "391"},
            ],
            "tools": [{"type": "function", "function": {"name": "multiply", "parameters": {"type": "object"}}}],
            "format": "json",
            "think": "high",
            "options": {"temperature": 0, "num_ctx": 4096, "num_predict": 9},
            "keep_alive": "5m",
            "strange": 1,
        }
    )
    request = wish.request
    assert wish.stream, "as Ollama does unless it is told otherwise"
    assert request.messages[0].images[0].data == b"x"
    assert request.messages[1].calls[0].arguments == {"a": 17}
    assert request.messages[2].name == "multiply"
    assert request.schema == {"type": "object"}
    assert (request.think, request.max_tokens) == ("high", 9)
    assert request.options == {"temperature": 0, "num_ctx": 4096, "keep_alive": "5m"}
    assert request.extra == {"strange": 1}


def test_what_is_generated_is_an_answer_to_a_user() -> None:
    wish = read({"model": "m", "prompt": "hello", "system": "be brief", "stream": False}, GENERATE)
    assert [(message.role, message.content) for message in wish.request.messages] == [
        ("system", "be brief"),
        ("user", "hello"),
    ]
    assert not wish.stream


@pytest.mark.parametrize(("path", "keep_alive", "reason"), [(CHAT, "5m", "load"), (GENERATE, 0, "unload")])
def test_who_says_nothing_only_wants_the_model_to_be_loaded(path: str, keep_alive: object, reason: str) -> None:
    answer: Any = read({"model": "m", "keep_alive": keep_alive}, path).at_once
    assert (answer["done"], answer["done_reason"]) == (True, reason)


def test_shorter_vectors_are_to_be_had() -> None:
    action = next(route.action for route in OLLAMA.routes if isinstance(route.action, Embed))
    body, extra = decoded(b'{"model": "m", "input": "x", "dimensions": 2, "truncate": true}', action.body, nesting=9)
    answer: Any = action.read(body, extra).write([[3.0, 4.0, 12.0]], 3)
    assert (answer["embeddings"], answer["prompt_eval_count"]) == ([[0.6, 0.8]], 3)
    assert answer["total_duration"] >= 0


def test_what_is_loaded_stays_for_ever_as_clients_see_it() -> None:
    action = next(route.action for route in OLLAMA.routes if isinstance(route.action, ListRunning))
    answer: Any = action.write({"tiny": Loaded(7, 2048)}, [{"name": "qwen3:8b"}])
    assert (answer["models"][1]["size"], answer["models"][1]["context_length"]) == (7, 2048)
    assert [model["name"] for model in answer["models"]] == ["qwen3:8b", "tiny"]
    assert int(answer["models"][1]["expires_at"][:4]) > 2300


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (CHAT, {**HELLO, "format": "xml"}),
        (CHAT, {**HELLO, "think": "much"}),
        (CHAT, {**HELLO, "logprobs": True}),
        (GENERATE, {"model": "m", "prompt": "x", "top_logprobs": 3}),
        (CHAT, {**HELLO, "tools": [{"type": "function"}]}),
        (GENERATE, {"model": "m", "prompt": "x", "raw": True}),
        (GENERATE, {"model": "m", "prompt": "x", "images": ["~"]}),
    ],
)
def test_what_cannot_be_done_is_said(path: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read(wrong, path)


@given(st.sampled_from(sorted(TALKS)), st.dictionaries(st.sampled_from(FIELDS), JSONS))
def test_any_request_is_read_or_refused(path: str, body: dict[str, Any]) -> None:
    try:
        wish = read(body, path)
    except UsageError:
        return
    assert wish.request.messages or wish.at_once


@given(EVENTS, st.sampled_from(["stop", "length", "tool_calls"]))
def test_pieces_and_whole_say_the_same(events: list[Event], reason: Any) -> None:
    every = [*events, Usage(3, 4), Done(reason)]
    wish, said = read(HELLO), Said()
    writer = wish.writer("m")
    *lines, last = map(json.loads, b"".join([*map(writer.feed, every), writer.end(None)]).splitlines())
    for event in every:
        said.hear(event)
    whole = json.loads(msgspec.json.encode(wish.writer("m").whole(said, None)))
    messages = [line["message"] for line in lines]
    assert not any(line["done"] for line in lines)
    assert "".join(message["content"] for message in messages) == whole["message"]["content"]
    assert "".join(message.get("thinking", "") for message in messages) == whole["message"].get("thinking", "")
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    assert calls == whole["message"].get("tool_calls", [])
    for answer in (last, whole):
        assert answer["done"] is True
        assert answer["done_reason"] == ("length" if reason == "length" else "stop")
        assert (answer["prompt_eval_count"], answer["eval_count"]) == (3, 4)
        assert answer["total_duration"] >= answer["prompt_eval_duration"] >= 0
        assert answer["eval_duration"] > 0  # which clients divide by


def test_generated_pieces_are_responses() -> None:
    writer = read({"model": "m", "prompt": "x"}, GENERATE).writer("m")
    pieces = [writer.feed(AssistantDelta("Hello")), writer.feed(Done("stop")), writer.end({"mode": "off"})]
    first, last = map(json.loads, b"".join(pieces).splitlines())
    assert first["response"] == "Hello"
    assert (last["response"], last["done"], last["callgate"]) == ("", True, {"mode": "off"})


def _call() -> dict[str, Any]:
    return {"function": {"name": "multiply", "arguments": {"a": 17}}}


@pytest.mark.parametrize(
    ("span", "is_none"),
    [(0, True), (0.0, True), ("0", True), ("0m0.0s", True), (None, False), (5, False), (-1, False), ("5m", False)],
)
def test_a_span_of_no_time_is_known_however_it_is_written(span: str | float | None, is_none: bool) -> None:
    assert is_no_time(span) is is_none


def test_a_span_of_no_end_is_read_all_the_same() -> None:
    assert not is_no_time("0" * 20_000 + "x")
    assert not is_no_time("0s" * 20_000 + "x")
