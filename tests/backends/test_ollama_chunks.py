import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends.ollama.chunks import MAX_DEPTH, Answer, ErrorLine
from callgate.vocabulary import (
    AssistantDelta,
    BadAnswer,
    Done,
    Event,
    StreamCut,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
)
from tests.backends.played_ollama import call, end, line

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
ARGUMENTS = st.dictionaries(st.text(), st.text() | st.integers(-1000, 1000) | st.lists(st.text()))
CHUNKS = st.lists(
    st.builds(lambda text: line(content=text), st.text())
    | st.builds(lambda text: line(thinking=text), st.text())
    | st.builds(
        lambda a, name: line(tool_calls=[{**call(id=name), "function": {"name": "f", "arguments": a}}]),
        ARGUMENTS,
        st.uuids().map(str),
    ),
    max_size=8,
)


def events_in(*pieces: bytes) -> list[Event]:
    """Of a whole answer, or of as much as there is until it goes wrong."""
    answer = Answer("the server")
    events: list[Event] = []
    for piece in [*filter(None, pieces), b""]:
        if answer.is_done:
            break
        events += answer.read(piece)
    return events


def calls_in(*lines: bytes) -> list[ToolCall]:
    return [event.call for event in events_in(*lines, end()) if isinstance(event, ToolCallEvent)]


@given(CHUNKS, st.data())
def test_events_are_the_same_however_the_bytes_are_cut(chunks: list[bytes], data: st.DataObject) -> None:
    sent = b"".join([*chunks, end()])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=20)))
    pieces = [sent[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    whole = events_in(sent)
    assert events_in(*pieces) == whole
    assert isinstance(whole[-1], Done)
    said = "".join(json.loads(chunk)["message"]["content"] for chunk in chunks)
    assert "".join(event.text for event in whole if isinstance(event, AssistantDelta)) == said


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_other_bytes_are_a_bad_answer_or_a_cut_one(sent: bytes) -> None:
    with pytest.raises((BadAnswer, StreamCut, ErrorLine)):
        events_in(sent)


@given(JSON, st.sampled_from(["message", "done", "done_reason", "eval_count", "prompt_eval_count", "error"]))
def test_a_field_may_hold_anything(value: object, field: str) -> None:
    sent = json.dumps({"message": {"content": "x"}, "done": True, field: value}).encode() + b"\n"
    try:
        events = events_in(sent)
    except (BadAnswer, StreamCut, ErrorLine):
        return
    assert isinstance(events[-1], Done)


@given(JSON, st.sampled_from(["content", "thinking", "tool_calls"]))
def test_so_may_a_field_of_the_message(value: object, field: str) -> None:
    sent = json.dumps({"message": {field: value}, "done": True}).encode()
    try:
        events = events_in(sent)
    except BadAnswer:
        return
    assert isinstance(events[-1], Done)


@given(JSON, st.sampled_from(["id", "function", "name", "arguments"]))
def test_so_may_a_field_of_a_call(value: object, field: str) -> None:
    function: dict[str, object] = {"name": "f", "arguments": {}}
    given_call: dict[str, object] = {"id": "a", "function": function}
    (given_call if field in given_call else function)[field] = value
    try:
        [found] = calls_in(line(tool_calls=[given_call]))
    except BadAnswer:
        return
    assert found.id
    assert isinstance(found.arguments, dict | str)


def test_calls_without_ids_get_some_of_their_own() -> None:
    found = calls_in(line(tool_calls=[call(), call(id="")]), line(tool_calls=[call(id=None)]))
    assert len({each.id for each in found}) == 3
    assert all(each.id.startswith("call_") for each in found)


def test_an_id_that_is_given_is_kept_unless_another_call_has_it() -> None:
    first, second, third = calls_in(line(tool_calls=[call(id="a"), call(id="b")]), line(tool_calls=[call(id="a")]))
    assert (first.id, second.id) == ("a", "b")
    assert third.id not in ("a", "b")


@pytest.mark.parametrize(
    ("sent", "arguments", "raw"),
    [
        ({"x": {"y": [1]}}, {"x": {"y": [1]}}, None),
        (None, {}, None),
        ("", {}, ""),
        ('{"x": 1}', {"x": 1}, '{"x": 1}'),
        ("[1]", "[1]", "[1]"),
        ('{"x": 1', '{"x": 1', '{"x": 1'),
    ],
)
def test_arguments_are_an_object_wherever_they_can_be(sent: object, arguments: object, raw: str | None) -> None:
    [found] = calls_in(line(tool_calls=[{"function": {"name": "f", "arguments": sent}}]))
    assert (found.arguments, found.raw) == (arguments, raw)


def test_a_call_without_arguments_is_whole() -> None:
    [found] = calls_in(line(tool_calls=[{"function": {"name": "f"}}]))
    assert (found.name, found.arguments) == ("f", {})


@pytest.mark.parametrize("depth", [MAX_DEPTH + 2, 5_000, 500_000])
def test_deep_nesting_is_a_bad_answer_and_as_a_text_just_a_text(depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    whole = '{"message":{"tool_calls":[{"function":{"name":"f","arguments":%s}}]},"done":true}\n'
    with pytest.raises(BadAnswer):
        events_in((whole % nested).encode())
    [found] = calls_in((whole % json.dumps(nested)).encode())
    assert found.arguments == found.raw == nested


def test_arguments_of_a_sensible_depth_pass() -> None:
    nested: object = 1
    for _ in range(40):
        nested = {"a": [nested]}
    [found] = calls_in(line(tool_calls=[call(x=nested)]))
    assert found.arguments == {"x": nested}


def test_counts_that_make_no_sense_are_left_out() -> None:
    assert events_in(line(done=True, prompt_eval_count=-1, eval_count=5))[0] == Usage(None, 5)
    assert events_in(line(done=True)) == [Done("stop")]


def test_empty_pieces_of_text_are_no_events() -> None:
    assert events_in(line(), line(thinking=""), line(tool_calls=[]), end()) == [Usage(9, 2), Done("stop")]
    assert events_in(line(thinking="a", content="b"), end())[:2] == [ThinkingDelta("a"), AssistantDelta("b")]


@pytest.mark.parametrize("error", ["out of memory", {"message": "out of memory"}, ["?"], 5, False])
def test_an_error_line_is_one_whatever_it_holds(error: object) -> None:
    with pytest.raises(ErrorLine) as caught:
        events_in(line(content="x"), json.dumps({"error": error}).encode() + b"\n")
    assert "memory" not in str(caught.value)


def test_memory_stays_level_over_a_long_answer() -> None:
    piece = b"".join(line(content=f"word {number}") for number in range(500))

    def peak(pieces: int) -> int:
        answer = Answer("the server")
        tracemalloc.start()
        try:
            assert sum(1 for _ in range(pieces) for _ in answer.read(piece)) == 500 * pieces
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(200) < peak(10) + 100_000
