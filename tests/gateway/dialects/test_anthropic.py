from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.asgi import decoded
from callgate.gateway.dialect import Failure, Talk, Wish
from callgate.gateway.dialects.anthropic import ANTHROPIC
from callgate.runtime import Said
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta, ToolCall, ToolCallEvent, Usage, UsageError
from tests.gateway.dialects.test_openai import EVENTS, JSONS

HELLO: dict[str, Any] = {"max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
MULTIPLY = {"name": "multiply", "description": "Multiplies.", "input_schema": {"type": "object"}}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}
FIELDS = (
    *("model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking", "output_config", "stream"),
    *("temperature", "stop_sequences", "metadata", "strange"),
)
VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=2)
BLOCKS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["text", "image", "document", "tool_use", "tool_result", "thinking", "search_result", ""]
        )
    },
    optional={
        **dict.fromkeys(("text", "thinking", "id", "name", "tool_use_id", "content", "is_error", "title"), VALUES),
        "input": VALUES | st.dictionaries(st.text(), VALUES, max_size=2),
        "source": VALUES
        | st.fixed_dictionaries({"type": st.sampled_from(["base64", "text", "content"]), "data": VALUES}),
    },
)


def read(body: dict[str, Any]) -> Wish:
    action = next(route.action for route in ANTHROPIC.routes if isinstance(route.action, Talk))
    return action.read(*decoded(json.dumps(body).encode(), action.body, nesting=64))


def events_of(sent: bytes) -> list[Any]:
    found = []
    for part in filter(None, sent.split(b"\n\n")):
        name, data = part.split(b"\n", 1)
        content = json.loads(data.removeprefix(b"data: "))
        assert name.decode() == f"event: {content['type']}"
        found.append(content)
    return found


def streamed(wish: Wish, events: Iterable[Event]) -> list[Any]:
    writer = wish.writer("m")
    return events_of(b"".join([*(writer.feed(event) for event in events), writer.end(None)]))


def test_a_request_says_all_that_it_says() -> None:
    wish = read(
        {
            "model": "m",
            "max_tokens": 7,
            "system": [
                {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1; cch=fa690;"},
                {"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "be kind"},
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "look"}, _picture()]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "x"},
                        {"type": "redacted_thinking", "data": "y"},
                        {"type": "text", "text": "I'll see."},
                        {"type": "tool_use", "id": "a", "name": "multiply", "input": {"a": 17}},
                        {"type": "tool_use", "id": "b", "name": "multiply", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "go on"},
                        {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True},
                        {"type": "tool_result", "tool_use_id": "a", "content": [_text("391"), _picture()]},
                        {"type": "text", "text": ""},
                    ],
                },
            ],
            "tools": [
                {**MULTIPLY, "cache_control": {"type": "ephemeral"}},
                {**MULTIPLY, "type": "custom", "name": "x"},
            ],
            "tool_choice": {"type": "tool", "name": "multiply", "disable_parallel_tool_use": True},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
            "temperature": 0,
            "top_k": 5,
            "stop_sequences": ["x"],
            "stream": True,
            "metadata": {"user_id": "me"},
            "context_management": {"edits": []},
        }
    )
    request = wish.request
    assert (wish.model, wish.stream, wish.notices) == ("m", True, ())
    said = [(message.role, message.content) for message in request.messages]
    assert said == [
        ("system", "be brief\n\nbe kind"),
        ("user", "look"),
        ("assistant", "I'll see."),
        ("tool", "error: no"),
        ("tool", "391"),
        ("user", "go on"),
    ]
    assert request.messages[1].images[0].data == request.messages[4].images[0].data == b"x"
    assert request.messages[2].thinking == "hm"
    assert [call.arguments for call in request.messages[2].calls] == [{"a": 17}, {}]
    assert [message.call_id for message in request.messages[3:5]] == ["b", "a"]
    assert [tool.name for tool in request.tools] == ["multiply", "x"]
    assert (request.tool_choice, request.parallel_tool_calls) == ("multiply", False)
    assert (request.max_tokens, request.think, request.schema) == (7, True, {"type": "object"})
    assert request.options == {"temperature": 0, "top_k": 5, "stop": ["x"]}
    assert request.extra == {}, "what else is in it is for another server"


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ("auto", None)),
        ({"type": "auto", "disable_parallel_tool_use": True}, ("auto", False)),
        ({"type": "any", "disable_parallel_tool_use": False}, ("required", None)),
        ({"type": "none"}, ("none", None)),
        ({"type": "tool", "name": "multiply"}, ("multiply", None)),
        ({"type": "tool", "name": "nothing"}, ("nothing", None)),
    ],
)
def test_a_tool_is_chosen(choice: dict[str, Any], expected: tuple[str, bool | None]) -> None:
    request = read({**HELLO, "tools": [MULTIPLY], "tool_choice": choice}).request
    assert (request.tool_choice, request.parallel_tool_calls) == expected


def test_tools_that_nobody_here_runs_are_left_out_and_named() -> None:
    wish = read({**HELLO, "tools": [MULTIPLY, SEARCH, {"type": "bash_20250124", "name": "bash"}]})
    assert [tool.name for tool in wish.request.tools] == ["multiply"]
    (notice,) = wish.notices
    assert notice.kind == "tools_left_out"
    assert "web_search (web_search_20250305)" in notice.message
    assert "bash (bash_20250124)" in notice.message


@pytest.mark.parametrize("choice", [{"type": "tool", "name": "web_search"}, {"type": "any"}])
def test_who_has_to_call_a_tool_that_is_left_out_may_just_answer(choice: dict[str, Any]) -> None:
    wish = read({**HELLO, "tools": [SEARCH], "tool_choice": choice})
    assert (wish.request.tools, wish.request.tool_choice) == ((), "auto")
    assert [notice.kind for notice in wish.notices] == ["tools_left_out", "choice_left_out"]


def test_blocks_of_unknown_types_are_left_out_and_named() -> None:
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": {"type": "web_search_tool_result_error"}},
        *({"type": f"strange{number}"} for number in range(100)),
    ]
    wish = read({"messages": [*HELLO["messages"], {"role": "assistant", "content": content}]})
    assert [message.role for message in wish.request.messages] == ["user"]
    (notice,) = wish.notices
    assert "'server_tool_use', 'web_search_tool_result', 'strange0'" in notice.message
    assert len(notice.message) < 300


def test_the_model_is_told_of_what_it_cannot_be_shown() -> None:
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "eA=="}
    content = [
        {"type": "document", "title": "Report", "source": pdf},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain words"}},
        {"type": "document", "source": {"type": "content", "content": [_text("more words")]}},
        {"type": "image", "source": {"type": "url", "url": "http://localhost/x.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "~"}},
        {"type": "search_result", "title": "Found", "source": "a book", "content": [_text("a page")]},
    ]
    wish = read({"messages": [{"role": "user", "content": content}]})
    (message,) = wish.request.messages
    assert message.images == ()
    assert message.content.splitlines() == [
        "Report",
        "[Something of the type application/pdf was here. It can't be shown to you.]",
        "plain words",
        "more words",
        "[Something of the type image was here, by its address. It isn't fetched.]",
        "[Something of the type image was here. It can't be shown to you.]",
        "Found",
        "a book",
        "a page",
    ]
    assert [notice.kind for notice in wish.notices] == ["parts_left_out", "parts_not_fetched"]


@pytest.mark.parametrize(
    ("asked", "think"),
    [
        ({}, None),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}, False),
        ({"thinking": {"type": "adaptive"}}, None),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "xhigh"}}, "max"),
        ({"output_config": {"effort": "low"}}, None),
    ],
)
def test_thinking_is_asked_for_in_many_ways(asked: dict[str, Any], think: object) -> None:
    wish = read({**HELLO, **asked})
    assert wish.request.think == think
    assert wish.may_not_think, "agents ask every model for it"


def test_who_wants_no_thinking_sees_none() -> None:
    wish = read({**HELLO, "thinking": {"type": "adaptive", "display": "omitted"}})
    events: list[Event] = [ThinkingDelta("hm"), AssistantDelta("x"), Done("stop")]
    assert [event["type"] for event in streamed(wish, events)].count("content_block_start") == 1


def test_what_agents_put_before_a_prompt_is_no_part_of_it() -> None:
    """Else no engine would find the prompt in its cache."""
    requests = [read({**HELLO, "system": f"x-anthropic-billing-header: cch={n};\nbe brief"}).request for n in (1, 2)]
    assert requests[0] == requests[1]
    assert requests[0].messages[0].content == "be brief"


def test_long_histories_and_many_tools_are_read() -> None:
    tools = [{**MULTIPLY, "name": f"tool{number}", "description": "word " * 500} for number in range(100)]
    turns: list[dict[str, Any]] = []
    for number in range(300):
        turns.append({"role": "user", "content": f"question {number}"})
        calls = [{"type": "tool_use", "id": f"{number}.{n}", "name": f"tool{n}", "input": {}} for n in range(3)]
        turns.append({"role": "assistant", "content": calls})
        results = [{"type": "tool_result", "tool_use_id": f"{number}.{n}", "content": "x"} for n in reversed(range(3))]
        turns.append({"role": "user", "content": results})
        turns.append({"role": "assistant", "content": [{"type": "text", "text": "answer"}]})
    request = read({"messages": turns, "tools": tools}).request
    assert (len(request.messages), len(request.tools)) == (300 * 6, 100)


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": []},
        {"messages": [*HELLO["messages"]] * 100_001},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user"}]},
        {**HELLO, "tools": [{"input_schema": {"type": "object"}}]},
        {**HELLO, "tools": [MULTIPLY, MULTIPLY]},
        {**HELLO, "tool_choice": {"type": "some"}},
        {**HELLO, "tool_choice": "auto"},
        {**HELLO, "max_tokens": -1},
    ],
)
def test_what_cannot_be_done_is_said(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read(wrong)


@given(st.dictionaries(st.sampled_from(FIELDS), JSONS))
def test_any_request_is_read_or_refused(body: dict[str, Any]) -> None:
    try:
        wish = read(body)
    except UsageError:
        return
    assert wish.request.messages


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "role": st.sampled_from(["user", "assistant", "system"]),
                "content": st.text() | st.lists(BLOCKS, max_size=4),
            }
        ),
        min_size=1,
        max_size=3,
    ),
    st.none() | st.text() | st.lists(BLOCKS, max_size=2),
)
def test_whatever_blocks_there_are_they_are_read(messages: list[Any], system: Any) -> None:
    request = read({"messages": messages, "system": system}).request
    assert request.messages
    msgspec.json.encode(request)


@given(EVENTS, st.sampled_from(["stop", "length", "tool_calls"]))
def test_pieces_and_whole_say_the_same(events: list[Event], reason: Any) -> None:
    every = [*events, Usage(3, 4), Done(reason)]
    wish, said = read(HELLO), Said()
    for event in every:
        said.hear(event)
    whole = json.loads(msgspec.json.encode(wish.writer("m").whole(said, None)))
    first, ping, *others, delta, stop = streamed(wish, every)
    assert (first["type"], ping["type"], stop["type"]) == ("message_start", "ping", "message_stop")
    assert first["message"]["content"] == []
    blocks = _put_together(others)
    for kind, key in (("text", "text"), ("thinking", "thinking")):
        pieces, all_of_it = (
            "".join(block[key] for block in content if block["type"] == kind) for content in (blocks, whole["content"])
        )
        assert pieces == all_of_it
    calls = [block for block in blocks if block["type"] == "tool_use"]
    assert calls == [block for block in whole["content"] if block["type"] == "tool_use"]
    assert all(block["signature"] for block in (*blocks, *whole["content"]) if block["type"] == "thinking")
    assert delta["usage"] == whole["usage"]
    assert (delta["usage"]["input_tokens"], delta["usage"]["output_tokens"]) == (3, 4)
    assert delta["delta"] == {key: whole[key] for key in ("stop_reason", "stop_sequence")}
    expected = "max_tokens" if reason == "length" else "tool_use" if calls else "end_turn"
    assert whole["stop_reason"] == expected


def _put_together(events: list[Any]) -> list[Any]:
    """As clients do it, and as strictly as the strictest of them."""
    blocks: list[Any] = []
    is_open = False
    written = ""
    for event in events:
        kind = event["type"]
        if kind == "content_block_start":
            assert not is_open
            assert event["index"] == len(blocks)
            is_open, written = True, ""
            blocks.append(event["content_block"])
            continue
        assert is_open
        assert event["index"] == len(blocks) - 1
        block = blocks[-1]
        if kind == "content_block_stop":
            is_open = False
            if block["type"] == "tool_use":
                block["input"] = json.loads(written)
            continue
        delta = event["delta"]
        match delta["type"]:
            case "text_delta":
                block["text"] += delta["text"]
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
            case "signature_delta":
                block["signature"] += delta["signature"]
            case "input_json_delta":
                written += delta["partial_json"]
    assert not is_open
    return blocks


def test_arguments_that_are_no_object_are_kept_in_one() -> None:
    events = streamed(read(HELLO), [ToolCallEvent(ToolCall("1", "x", "not {json")), Done("tool_calls")])
    (delta,) = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert json.loads(delta["partial_json"]) == {"arguments": "not {json"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (503, "overloaded_error"),
        (504, "timeout_error"),
    ],
)
def test_errors_are_told_in_its_words(status: int, kind: str) -> None:
    told: Any = ANTHROPIC.error(Failure(status=status, kind="x", message="why", hint="do that"))
    assert (told["type"], told["error"]) == ("error", {"type": kind, "message": "why (do that)"})
    assert told["request_id"].startswith("req_")
    writer = read(HELLO).writer("m")
    writer.feed(AssistantDelta("x"))
    (event,) = events_of(writer.fail(Failure(status=status, kind="x", message="why")))
    assert event["error"] == {"type": kind, "message": "why"}


def _picture() -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
