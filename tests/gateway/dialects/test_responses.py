from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.asgi import decoded
from callgate.gateway.dialect import Failure, Keeps, NotKept, Talk, Wish
from callgate.gateway.dialects.responses import RESPONSES
from callgate.gateway.writing.responses import Stored
from callgate.runtime import Said
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta, ToolCall, ToolCallEvent, Usage, UsageError
from tests.gateway.dialects.test_anthropic import VALUES, events_of
from tests.gateway.dialects.test_openai import EVENTS, JSONS

HELLO: dict[str, Any] = {"input": "hello"}
MULTIPLY = {"type": "function", "name": "multiply", "parameters": {"type": "object"}, "strict": True}
PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Changes files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
}
GITHUB = {
    "type": "namespace",
    "name": "mcp__github",
    "description": "…",
    "tools": [{"type": "function", "name": "search"}],
}
CALL = ToolCallEvent(ToolCall("c1", "multiply", {"a": 17}))
FIELDS = (
    *("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning", "stream"),
    *("previous_response_id", "store", "max_output_tokens", "temperature", "metadata", "include", "strange"),
)
TYPES = (
    *("message", "function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output"),
    *("item_reference", "web_search_call", "local_shell_call"),
)
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TYPES),
        "role": st.sampled_from(["user", "assistant", "developer", "critic"]) | VALUES,
        **dict.fromkeys(("call_id", "name", "arguments", "output", "content", "summary", "id", "namespace"), VALUES),
        "input": VALUES,
    },
)


def read(body: dict[str, Any]) -> Wish:
    action = next(route.action for route in RESPONSES.routes if isinstance(route.action, Talk))
    return action.read(*decoded(json.dumps(body).encode(), action.body, nesting=64))


def streamed(wish: Wish, events: Iterable[Event]) -> list[Any]:
    writer = wish.writer("m")
    told = events_of(b"".join([*(writer.feed(event) for event in events), writer.end(None)]))
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    return told


def answered(wish: Wish, *events: Event) -> tuple[Any, tuple[str, bytes] | None]:
    """The whole answer, and what is kept of it."""
    said = Said()
    for event in events:
        said.hear(event)
    writer = wish.writer("m")
    whole = json.loads(msgspec.json.encode(writer.whole(said, None)))
    assert isinstance(writer, Keeps)
    return whole, writer.kept()


def test_a_request_says_all_that_it_says() -> None:
    wish = read(
        {
            "model": "m",
            "instructions": "be brief",
            "input": [
                {"role": "developer", "content": [{"type": "input_text", "text": "be kind"}]},
                {"role": "user", "content": [{"type": "input_text", "text": "look"}, _picture()]},
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I'll see."}]},
                {"type": "function_call", "call_id": "a", "name": "multiply", "arguments": '{"a": 17}'},
                {"type": "function_call", "call_id": "b", "name": "multiply", "arguments": "no json"},
                {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"},
                {"type": "function_call_output", "call_id": "b", "output": "none"},
                {"type": "custom_tool_call_output", "call_id": "c", "output": "done"},
                {"type": "function_call_output", "call_id": "a", "output": [_said("391"), _picture()]},
                {"role": "user", "content": "go on"},
            ],
            "tools": [MULTIPLY],
            "tool_choice": {"type": "function", "name": "multiply"},
            "parallel_tool_calls": False,
            "text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}, "verbosity": "low"},
            "reasoning": {"effort": "minimal", "summary": "auto"},
            "max_output_tokens": 7,
            "temperature": 0,
            "stream": True,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "x",
        }
    )
    request = wish.request
    assert (wish.model, wish.stream, wish.notices, wish.earlier) == ("m", True, (), ())
    assert [(message.role, message.content) for message in request.messages] == [
        ("system", "be brief"),
        ("system", "be kind"),
        ("user", "look"),
        ("assistant", "I'll see."),
        ("tool", "none"),
        ("tool", "done"),
        ("tool", "391"),
        ("user", "go on"),
    ]
    assert request.messages[2].images[0].data == request.messages[6].images[0].data == b"x"
    answer = request.messages[3]
    assert answer.thinking == "hm"
    assert [call.arguments for call in answer.calls] == [{"a": 17}, "no json", {"input": "*** Begin"}]
    assert (request.tool_choice, request.parallel_tool_calls) == ("multiply", False)
    assert (request.max_tokens, request.think, request.schema) == (7, "low", {"type": "object"})
    assert request.options == {"temperature": 0}
    assert request.extra == {}, "what else is in it is for another server"


def test_tools_that_nobody_here_runs_are_left_out_and_named() -> None:
    wish = read({**HELLO, "tools": [MULTIPLY, {"type": "web_search"}, {"type": "local_shell"}]})
    assert [tool.name for tool in wish.request.tools] == ["multiply"]
    assert [notice.message for notice in wish.notices] == [
        "tools of kinds that callgate doesn't know were left out: 'web_search', 'local_shell'"
    ]
    told = streamed(wish, [Done("stop")])[0]["response"]
    assert [tool["type"] for tool in told["tools"]] == ["function", "web_search", "local_shell"]


@pytest.mark.parametrize(
    ("choice", "tools", "expected"),
    [
        ("required", ["multiply"], "required"),
        ({"type": "function", "name": "multiply"}, ["multiply"], "multiply"),
        ({"type": "web_search_preview"}, ["multiply"], "auto"),
        ({"type": "function", "name": "nothing"}, ["multiply"], "nothing"),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"name": "multiply"}]}, ["multiply"], "required"),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"name": "nothing"}]}, [], "auto"),
    ],
)
def test_a_tool_is_chosen(choice: Any, tools: list[str], expected: str) -> None:
    request = read({**HELLO, "tools": [MULTIPLY], "tool_choice": choice}).request
    assert ([tool.name for tool in request.tools], request.tool_choice) == (tools, expected)


def test_a_tool_that_takes_a_text_as_it_is_gets_one() -> None:
    wish = read({**HELLO, "tools": [PATCH], "tool_choice": {"type": "custom", "name": "apply_patch"}})
    (tool,) = wish.request.tools
    assert wish.request.tool_choice == "apply_patch"
    assert "start: /.+/" in tool.description
    call = ToolCallEvent(ToolCall("c1", "apply_patch", {"input": "*** Begin"}))
    told = streamed(wish, [call, Done("tool_calls")])
    assert [event["type"] for event in told if "custom" in event["type"]] == [
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
    ]
    (item,) = told[-1]["response"]["output"]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "apply_patch", "*** Begin")


def test_tools_may_share_a_name_before_theirs() -> None:
    past = {"type": "function_call", "call_id": "a", "name": "search", "namespace": "mcp__github", "arguments": "{}"}
    wish = read({"input": [past], "tools": [GITHUB, {**MULTIPLY, "name": "search"}]})
    assert [tool.name for tool in wish.request.tools] == ["mcp__github__search", "search"]
    assert wish.request.messages[0].calls[0].name == "mcp__github__search"
    whole, _ = answered(wish, ToolCallEvent(ToolCall("c1", "mcp__github__search", {})), Done("tool_calls"))
    assert (whole["output"][0]["namespace"], whole["output"][0]["name"]) == ("mcp__github", "search")


def test_a_request_goes_on_from_an_earlier_answer() -> None:
    first = read({**HELLO, "instructions": "be brief", "tools": [MULTIPLY]})
    whole, kept = answered(first, ThinkingDelta("hm"), AssistantDelta("I'll see."), CALL, Usage(3, 4), Done("stop"))
    assert kept
    assert kept[0] == whole["id"]
    output = {"type": "function_call_output", "call_id": "c1", "output": "391"}
    wish = read({"input": [output], "previous_response_id": whole["id"]})
    assert (wish.earlier, bool(wish.go_on)) == ((whole["id"],), True)
    assert wish.go_on
    second = wish.go_on(dict([kept]))
    assert [message.role for message in second.request.messages] == ["user", "assistant", "tool"]
    assert second.request.messages[1].calls[0].arguments == {"a": 17}
    assert second.request.messages[1].thinking == "hm"
    again, more = answered(second, AssistantDelta("391"), Done("stop"))
    assert again["previous_response_id"] == whole["id"]
    assert more
    assert len(msgspec.json.decode(more[1], type=Stored).messages) == 4, "so that the first one may go"
    with pytest.raises(NotKept, match="isn't kept"):
        wish.go_on({})


def test_items_of_earlier_answers_may_just_be_named() -> None:
    whole, kept = answered(read(HELLO), ThinkingDelta("hm"), CALL, Done("tool_calls"))
    assert kept
    named = [{"type": "item_reference", "id": item["id"]} for item in whole["output"]]
    output = {"type": "function_call_output", "call_id": "c1", "output": "391"}
    wish = read({"input": [{"role": "user", "content": "hello"}, *named, output]})
    assert wish.earlier == (whole["id"],)
    assert wish.go_on
    messages = wish.go_on(dict([kept])).request.messages
    assert [message.role for message in messages] == ["user", "assistant", "tool"]
    assert (messages[1].thinking, messages[1].calls[0].name) == ("hm", "multiply")
    with pytest.raises(NotKept, match="item"):
        wish.go_on({})


def test_nothing_is_kept_of_an_answer_that_is_not_to_be_stored() -> None:
    whole, kept = answered(read({**HELLO, "store": False}), AssistantDelta("x"), Done("stop"))
    assert (whole["store"], kept) == (False, None)


def test_pieces_are_kept_as_the_whole_is() -> None:
    wish = read(HELLO)
    writer = wish.writer("m")
    assert isinstance(writer, Keeps)
    for event in (ThinkingDelta("h"), ThinkingDelta("m"), AssistantDelta("x"), CALL, Done("tool_calls")):
        writer.feed(event)
        assert writer.kept() is None
    writer.end(None)
    kept = writer.kept()
    assert kept
    messages = msgspec.json.decode(kept[1], type=Stored).messages
    assert (messages[1].thinking, messages[1].content, messages[1].calls[0].id) == ("hm", "x", "c1")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"input": []},
        {"input": [{}] * 100_001},
        {"input": ["x"]},
        {**HELLO, "conversation": "conv_1"},
        {**HELLO, "prompt": {"id": "pmpt_1"}},
        {**HELLO, "tools": [{"type": "function"}]},
        {**HELLO, "tools": [{"type": "custom"}]},
        {**HELLO, "text": {"format": {"type": "xml"}}},
        {**HELLO, "reasoning": {"effort": 3}},
        {**HELLO, "tool_choice": "multiply"},
        {**HELLO, "top_logprobs": 2},
        {**HELLO, "include": ["message.output_text.logprobs"]},
    ],
)
def test_what_cannot_be_done_is_said(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read(wrong)


def test_a_prompt_is_whole_unless_it_may_be_cut() -> None:
    assert read(HELLO).request.whole_prompt
    assert read({**HELLO, "truncation": "disabled"}).request.whole_prompt
    cut = read({**HELLO, "truncation": "auto"})
    assert not cut.request.whole_prompt
    assert answered(cut, AssistantDelta("x"), Done("stop"))[0]["truncation"] == "auto"


def test_what_else_may_be_included_is_passed_over() -> None:
    assert read({**HELLO, "top_logprobs": 0, "include": ["reasoning.encrypted_content"]}).request.messages


@given(st.dictionaries(st.sampled_from(FIELDS), JSONS))
def test_any_request_is_read_or_refused(body: dict[str, Any]) -> None:
    try:
        wish = read(body)
    except UsageError:
        return
    assert wish.request.messages


@given(st.lists(ITEMS, min_size=1, max_size=5))
def test_whatever_items_there_are_they_are_read(items: list[Any]) -> None:
    wish = read({"input": items})
    assert wish.request.messages
    msgspec.json.encode(wish.request)
    if wish.go_on:
        with pytest.raises(NotKept):
            wish.go_on({})


@given(EVENTS, st.sampled_from(["stop", "length", "tool_calls"]))
def test_pieces_and_whole_say_the_same(events: list[Event], reason: Any) -> None:
    every = [*events, Usage(3, 4), Done(reason)]
    wish = read(HELLO)
    whole, _ = answered(wish, *every)
    created, in_progress, *others, last = streamed(wish, every)
    assert (created["type"], in_progress["type"]) == ("response.created", "response.in_progress")
    assert created["response"]["status"] == "in_progress"
    status = "incomplete" if reason == "length" else "completed"
    assert (last["type"], last["response"]["status"], whole["status"]) == (f"response.{status}", status, status)
    assert last["response"]["output"] == _put_together(others)
    assert last["response"]["usage"] == whole["usage"]
    assert whole["usage"]["total_tokens"] == 7
    assert bool(whole["incomplete_details"]) is (reason == "length")
    for kind, key in (("message", "content"), ("reasoning", "summary")):
        pieces, all_of_it = (
            "".join(part["text"] for item in answer["output"] if item["type"] == kind for part in item[key])
            for answer in (last["response"], whole)
        )
        assert pieces == all_of_it
    some, all_of_them = (
        [{**item, "id": ""} for item in answer["output"] if item["type"] == "function_call"]
        for answer in (last["response"], whole)
    )
    assert some == all_of_them


def _put_together(events: list[Any]) -> list[Any]:
    """As clients do it, and as strictly as the strictest of them."""
    items: list[Any] = []
    item: Any = None
    part: Any = None
    for event in events:
        kind = event["type"].removeprefix("response.")
        assert event["output_index"] == len(items)
        if kind == "output_item.added":
            assert item is None
            item = event["item"]
            assert item["status"] == "in_progress"
            continue
        if kind == "output_item.done":
            done = event["item"]
            assert {**item, "status": ""} == {**done, "status": ""}
            items.append(done)
            item = None
            continue
        assert event["item_id"] == item["id"]
        parts = item.get("content", item.get("summary"))
        match kind.rsplit(".", 1):
            case "function_call_arguments", "delta":
                item["arguments"] += event["delta"]
            case "function_call_arguments", "done":
                assert (event["arguments"], event["name"]) == (item["arguments"], item["name"])
            case _, "added":
                part = event["part"]
                parts.append(part)
                assert event.get("content_index", event.get("summary_index")) == 0
            case _, "delta":
                part["text"] += event["delta"]
            case "output_text" | "reasoning_summary_text", "done":
                assert event["text"] == part["text"]
            case _, "done":
                assert event["part"] == part
    assert item is None
    return items


def test_a_failure_ends_the_stream_in_order() -> None:
    writer = read(HELLO).writer("m")
    sent = writer.feed(AssistantDelta("x")) + writer.fail(Failure(status=502, kind="x", message="why"))
    *_, error, failed = events_of(sent)
    assert (error["type"], error["code"], error["message"]) == ("error", "server_error", "why")
    assert (failed["type"], failed["response"]["status"]) == ("response.failed", "failed")
    assert failed["response"]["error"] == {"code": "server_error", "message": "why"}
    assert isinstance(writer, Keeps)
    assert writer.kept() is None


def test_errors_are_told_in_the_words_of_openai() -> None:
    told: Any = RESPONSES.error(Failure(status=400, kind="NotKept", message="why"))
    assert told["error"]["code"] == "previous_response_not_found"
    told = RESPONSES.error(Failure(status=404, kind="NotFound", message="why"))
    assert told["error"] == {
        "message": "why",
        "type": "invalid_request_error",
        "param": None,
        "code": "model_not_found",
    }


def _picture() -> dict[str, Any]:
    return {"type": "input_image", "image_url": "data:image/png;base64,eA==", "detail": "auto"}


def _said(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}
