from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.telemetry.content import LONGEST_TEXT, MOST_LETTERS, MOST_TOOLS, answered, messages, tools
from callgate.runtime import Said
from callgate.vocabulary import (
    AssistantDelta,
    Done,
    Event,
    Image,
    Message,
    ThinkingDelta,
    Tool,
    ToolCall,
    ToolCallEvent,
)

CALLS = st.builds(ToolCall, st.text(), st.text(), st.text() | st.dictionaries(st.text(), st.integers() | st.text()))
MESSAGES = st.builds(
    lambda role, content, thinking, calls, call_id: Message(
        role=role, content=content, thinking=thinking, calls=tuple(calls), call_id=call_id
    ),
    st.sampled_from(("system", "user", "assistant", "tool")),
    st.text(),
    st.none() | st.text(),
    st.lists(CALLS, max_size=2),
    st.none() | st.text(),
)


@given(st.lists(MESSAGES, max_size=5))
def test_any_conversation_can_be_written(said: list[Message]) -> None:
    told = messages(said)
    assert [each["role"] for each in told] == [message.role for message in said]
    assert msgspec.json.decode(msgspec.json.encode(told)) == told


def test_each_part_is_what_the_conventions_call_it() -> None:
    said = [
        Message(role="user", content="What is this?", images=(Image(b"secret", "image/png"),)),
        Message(role="assistant", thinking="Hm.", calls=(ToolCall("c1", "look", {"at": "it"}),)),
        Message(role="tool", call_id="c1", name="look", content="a cat"),
    ]
    user, assistant, tool = messages(said)
    image = {"type": "image", "modality": "image", "mime_type": "image/png"}
    assert user["parts"] == [{"type": "text", "content": "What is this?"}, image]
    call = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "it"}}
    assert assistant["parts"] == [{"type": "reasoning", "content": "Hm."}, call]
    assert tool["parts"] == [{"type": "tool_call_response", "id": "c1", "response": "a cat"}]


def test_what_is_long_is_cut_and_what_is_old_is_left_out() -> None:
    (only,) = messages([Message(role="user", content="x" * (LONGEST_TEXT + 5))])
    assert len(only["parts"][0]["content"]) == LONGEST_TEXT
    many = messages([Message(role="user", content=f"{number} " + "x" * LONGEST_TEXT) for number in range(100)])
    assert len(msgspec.json.encode(many)) < 2 * MOST_LETTERS
    assert many[-1]["parts"][0]["content"].startswith("99 ")
    assert len(tools([Tool(f"t{number}") for number in range(1000)])) == MOST_TOOLS


def test_an_answer_is_one_message_with_its_end() -> None:
    said = Said()
    assert answered(said) == []
    events: list[Event] = [ThinkingDelta("Hm."), AssistantDelta("He"), AssistantDelta("llo")]
    for event in events:
        said.hear(event)
    (broken,) = answered(said)
    assert broken["finish_reason"] == "error"
    for event in (ToolCallEvent(ToolCall("c1", "f", "no object")), Done("tool_calls")):
        said.hear(event)
    (whole,) = answered(said)
    assert whole["finish_reason"] == "tool_call"
    assert [part["type"] for part in whole["parts"]] == ["reasoning", "text", "tool_call"]
