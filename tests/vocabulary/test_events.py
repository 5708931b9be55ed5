from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.vocabulary import (
    AssistantDelta,
    Done,
    Event,
    Notice,
    Repair,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
    UsageError,
    event_as_json,
    event_from_json,
)
from tests.vocabulary.strategies import events, json_values


def test_a_call_is_written_as_other_programs_know_it() -> None:
    event = ToolCallEvent(ToolCall("c1", "add", {"a": 1}, raw='{"a": 1}'))
    assert event_as_json(event) == {"type": "tool_call", "data": {"id": "c1", "name": "add", "args": {"a": 1}}}


@given(events(raw=False))
def test_events_come_back_as_they_were(event: Event) -> None:
    assert event_from_json(json.loads(json.dumps(event_as_json(event)))) == event


@pytest.mark.parametrize(
    "event",
    [
        AssistantDelta("a"),
        ThinkingDelta("t"),
        ToolCallEvent(ToolCall("", "f", "not an object", problem="it is no object")),
        ToolCallEvent(ToolCall("1", "f", {"a": 5}, repairs=(Repair("/a", "5", 5, "number"),))),
        Notice("k", "m"),
        Usage(None, 3),
        Done("length"),
    ],
)
def test_each_kind_of_event_comes_back(event: Event) -> None:
    assert event_from_json(event_as_json(event)) == event


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"type": "done"},
        {"type": "done", "data": []},
        {"type": 3, "data": {}},
        {"type": "surprise", "data": {}},
        {"type": "done", "data": {"reason": "bored"}},
        {"type": "done", "data": {"reason": ["stop"]}},
        {"type": "assistant_delta", "data": {"text": 3}},
        {"type": "tool_call", "data": {"id": "c", "name": "f", "args": [1]}},
        {"type": "tool_call", "data": {"id": "c", "name": "f", "args": {}, "raw": 1}},
        {"type": "tool_call", "data": {"id": "c", "name": "f", "args": {}, "problem": 1}},
        {"type": "tool_call", "data": {"id": "c", "name": "f", "args": {}, "repairs": 1}},
        {"type": "tool_call", "data": {"id": "c", "name": "f", "args": {}, "repairs": [{"path": "/a"}]}},
        {"type": "notice", "data": {"kind": "k"}},
        {"type": "usage", "data": {"prompt_tokens": True}},
    ],
)
def test_what_is_no_event_is_refused(value: Any) -> None:
    with pytest.raises(UsageError):
        event_from_json(value)


@given(json_values | st.fixed_dictionaries({"type": st.text(max_size=15), "data": json_values}))
def test_any_json_is_an_event_or_a_usage_error(value: Any) -> None:
    try:
        event = event_from_json(value)
    except UsageError:
        return
    assert event_from_json(event_as_json(event)) == event
