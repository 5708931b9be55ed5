from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate import OwedCall
from callgate.gate.owing import MOST_WORDS
from callgate.vocabulary import (
    AssistantDelta,
    CallMissing,
    Done,
    Event,
    Notice,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
)

CALL = ToolCallEvent(ToolCall("1", "now", {}, "{}"))
WORDS: st.SearchStrategy[Event] = st.builds(AssistantDelta, st.text(max_size=8))
OTHERS: st.SearchStrategy[Event] = st.builds(ThinkingDelta, st.text(max_size=8)) | st.just(Notice("a", "b"))
EVENTS = st.lists(WORDS | OTHERS | st.just(Usage(1, 2)), max_size=12)


@given(EVENTS, EVENTS, st.integers(1, 4))
def test_with_a_call_everything_is_passed_on(before: list[Event], after: list[Event], size: int) -> None:
    every = [*before, CALL, *after, Done("tool_calls")]
    owed = OwedCall()
    passed = [event for start in range(0, len(every), size) for event in owed.feed(every[start : start + size])]
    assert len(passed) == len(every)
    assert [event for event in passed if isinstance(event, AssistantDelta)] == [
        event for event in every if isinstance(event, AssistantDelta)
    ]
    assert passed[-1] == Done("tool_calls")


@given(EVENTS)
def test_without_a_call_nobody_gets_the_words(events: list[Event]) -> None:
    owed = OwedCall()
    assert not [event for event in owed.feed(events) if isinstance(event, AssistantDelta | Usage)]
    with pytest.raises(CallMissing):
        owed.feed([Done("stop")])


def test_thoughts_are_passed_on_at_once() -> None:
    assert OwedCall().feed([AssistantDelta("well"), ThinkingDelta("hm")]) == [ThinkingDelta("hm")]


def test_who_talks_too_long_is_not_waited_for() -> None:
    owed = OwedCall()
    assert not owed.feed([AssistantDelta("x" * MOST_WORDS)])
    with pytest.raises(CallMissing):
        owed.feed([AssistantDelta("x")])
    assert CALL in OwedCall().feed([AssistantDelta("x" * (MOST_WORDS + 1)), CALL])
