"""How Anthropic's dialect tells why an answer ended, and what it took."""

from __future__ import annotations

from typing import Any

import pytest

from callgate.runtime import Said
from callgate.vocabulary import Done, Event, ToolCall, ToolCallEvent, Usage
from tests.gateway.dialects.test_anthropic import HELLO, events_of, read


@pytest.mark.parametrize(
    ("done", "called", "expected"),
    [
        (Done("stop", "END"), False, ("stop_sequence", "END")),
        (Done("stop", "other"), False, ("end_turn", None)),
        (Done("stop"), False, ("end_turn", None)),
        (Done("stop", "END"), True, ("tool_use", None)),
        (Done("length"), False, ("max_tokens", None)),
    ],
)
def test_the_text_that_ended_an_answer_is_told(done: Done, called: bool, expected: tuple[str, str | None]) -> None:
    wish = read({**HELLO, "stop_sequences": ["x", "END"]})
    events: list[Event] = [*([ToolCallEvent(ToolCall("c", "f", {}))] if called else []), done]
    writer, said = wish.writer("m"), Said()
    pieces = b"".join(writer.feed(event) for event in events) + writer.end(None)
    for event in events:
        said.hear(event)
    whole: Any = wish.writer("m").whole(said, None)
    for ended in (events_of(pieces)[-2]["delta"], whole):
        assert (ended["stop_reason"], ended["stop_sequence"]) == expected


def test_what_was_in_a_cache_is_counted_by_itself() -> None:
    writer = read(HELLO).writer("m")
    writer.feed(Usage(30, 2, 20))
    usage = events_of(writer.end(None))[-2]["usage"]
    assert (usage["input_tokens"], usage["cache_read_input_tokens"], usage["output_tokens"]) == (10, 20, 2)
