"""Words of the vocabulary, made up."""

from __future__ import annotations

from hypothesis import strategies as st

from callgate.vocabulary import AssistantDelta, Done, Event, Notice, ThinkingDelta, ToolCall, ToolCallEvent, Usage

text = st.text(max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(text, json_values, max_size=4)


def calls(*, raw: bool = True) -> st.SearchStrategy[ToolCall]:
    return st.builds(ToolCall, text, text, objects | text, st.none() | text if raw else st.none())


def events(*, raw: bool = True) -> st.SearchStrategy[Event]:
    """Any but `Done`, which ends a stream."""
    counts = st.none() | st.integers(min_value=0, max_value=2**53)
    kinds: list[st.SearchStrategy[Event]] = [
        st.builds(AssistantDelta, text),
        st.builds(ThinkingDelta, text),
        st.builds(ToolCallEvent, calls(raw=raw)),
        st.builds(Notice, text, text),
        st.builds(Usage, counts, counts),
    ]
    return st.one_of(kinds)


endings: st.SearchStrategy[Done] = st.builds(Done, st.sampled_from(["stop", "length", "tool_calls", "cancelled"]))
