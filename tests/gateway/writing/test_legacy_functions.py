from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from callgate.runtime import Said
from callgate.vocabulary import AssistantDelta, Done, Event, Message, ToolCall, ToolCallEvent, UsageError
from tests.gateway.dialects.test_openai import EVENTS, HELLO, read, streamed

FUNCTION = {"name": "multiply", "description": "Multiply.", "parameters": {"type": "object", "properties": {}}}
CALLS: list[Event] = [
    ToolCallEvent(ToolCall("1", "multiply", {"a": 1})),
    ToolCallEvent(ToolCall("2", "multiply", {"a": 2})),
    Done("tool_calls"),
]
CALL = {"name": "multiply", "arguments": '{"a":1}'}


def test_functions_are_tools_of_which_one_is_called() -> None:
    request = read({**HELLO, "functions": [FUNCTION], "function_call": {"name": "multiply"}}).request
    assert [tool.name for tool in request.tools] == ["multiply"]
    assert request.tool_choice == "multiply"
    assert request.parallel_tool_calls is False
    assert request.extra == {}


def test_a_call_is_told_as_it_was_once() -> None:
    wish = read({**HELLO, "functions": [FUNCTION], "function_call": "auto"})
    assert wish.request.tool_choice == "auto"
    first, last = streamed(wish.writer("m"), CALLS)
    assert first["choices"][0]["delta"] == {"role": "assistant", "function_call": CALL}
    assert last["choices"][0]["finish_reason"] == "function_call"
    said = Said()
    for event in CALLS:
        said.hear(event)
    whole: Any = wish.writer("m").whole(said, None)
    message = whole["choices"][0]["message"]
    assert message == {"role": "assistant", "content": None, "refusal": None, "function_call": CALL}
    assert whole["choices"][0]["finish_reason"] == "function_call"


def test_text_is_text() -> None:
    wish = read({**HELLO, "functions": [FUNCTION]})
    text, last = streamed(wish.writer("m"), [AssistantDelta("hello"), Done("stop")])
    assert text["choices"][0]["delta"]["content"] == "hello"
    assert last["choices"][0]["finish_reason"] == "stop"


def test_tools_count_more_and_are_told_as_tools() -> None:
    wish = read({**HELLO, "tools": [{"type": "function", "function": FUNCTION}], "functions": [{"name": "other"}]})
    assert [tool.name for tool in wish.request.tools] == ["multiply"]
    assert "tool_calls" in streamed(wish.writer("m"), CALLS)[0]["choices"][0]["delta"]


def test_earlier_calls_and_their_results_are_known() -> None:
    said = [
        *HELLO["messages"],
        {"role": "assistant", "content": None, "function_call": CALL},
        {"role": "function", "name": "multiply", "content": "391"},
    ]
    _, call, result = read({"messages": said, "functions": [FUNCTION]}).request.messages
    assert [(each.name, each.arguments) for each in call.calls] == [("multiply", {"a": 1})]
    assert result == Message(role="tool", name="multiply", content="391")


@pytest.mark.parametrize(
    "wrong", [{"functions": [{}]}, {"functions": "x"}, {"functions": [FUNCTION], "function_call": 1}]
)
def test_what_is_no_function_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read({**HELLO, **wrong})


@given(EVENTS)
def test_pieces_and_whole_tell_the_same_call(events: list[Event]) -> None:
    wish = read({**HELLO, "functions": [FUNCTION]})
    said = Said()
    for event in (*events, Done("stop")):
        said.hear(event)
    whole: Any = wish.writer("m").whole(said, None)
    chunks = streamed(wish.writer("m"), [*events, Done("stop")])
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    called = [delta["function_call"] for delta in deltas if "function_call" in delta]
    assert called == [call for call in [whole["choices"][0]["message"].get("function_call")] if call]
    assert chunks[-1]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
