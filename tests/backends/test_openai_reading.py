import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends.openai.reading import Reading
from callgate.vocabulary import (
    AssistantDelta,
    BadAnswer,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Notice,
    StreamCut,
    StreamFailed,
    ThinkingDelta,
    Tool,
    ToolCall,
    ToolCallEvent,
    Usage,
)
from callgate.wire import SseDecoder

REQUEST = ChatRequest(model="m", messages=(), tools=(Tool("f"),))


def reading() -> Reading:
    numbers = iter(range(1_000_000))
    return Reading("a server", REQUEST, lambda: f"new{next(numbers)}")


def events_of(*pieces: bytes) -> Iterator[Event]:
    read = reading()
    stream = SseDecoder("a server")
    for piece in [*pieces, b""]:
        for data in stream.feed(piece) if piece else stream.close():
            yield from read.feed(data)
        if read.is_over:
            break
    yield from read.close()


def sse(*chunks: object, done: bool = True) -> bytes:
    lines = [json.dumps(chunk, ensure_ascii=False) for chunk in chunks] + ["[DONE]"] * done
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def delta(finish: str | None = None, **said: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


def calls(*pieces: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return delta(finish, tool_calls=list(pieces))


def piece(
    arguments: object = None,
    *,
    name: str | None = None,
    index: int | None = None,
    id: str | None = None,  # noqa: A002
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    sent = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}}
    return {key: value for key, value in sent.items() if value is not None}


# Text


def test_text_usage_and_end_come_in_their_order() -> None:
    stream = sse(
        delta(role="assistant", content=None),
        delta(reasoning_content="Hm."),
        delta(reasoning="Hm!"),
        delta(content=""),
        delta(content="Hel"),
        delta(content="lo 🦙"),
        delta("stop"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    )
    assert list(events_of(stream)) == [
        ThinkingDelta("Hm."),
        ThinkingDelta("Hm!"),
        AssistantDelta("Hel"),
        AssistantDelta("lo 🦙"),
        Usage(3, 2),
        Done("stop"),
    ]


def test_what_was_in_the_cache_is_told() -> None:
    counts: dict[str, Any] = {"prompt_tokens": 30, "completion_tokens": 2}
    counts["prompt_tokens_details"] = {"cached_tokens": 20}
    assert list(events_of(sse(delta("stop"), {"choices": [], "usage": counts}))) == [Usage(30, 2, 20), Done("stop")]
    strange: list[object] = [None, [], "x", {"cached_tokens": "many"}, {"cached_tokens": -1}]
    for counts["prompt_tokens_details"] in strange:
        assert next(events_of(sse(delta("stop"), {"choices": [], "usage": counts}))) == Usage(30, 2)


@pytest.mark.parametrize(
    ("told", "stop"),
    [
        ({"choices": [{"finish_reason": "stop", "stop_reason": "END"}]}, "END"),
        ({"choices": [{"finish_reason": "stop", "stop_reason": 2}]}, None),
        ({"choices": [{"finish_reason": "stop", "matched_stop": "END"}]}, "END"),
        ({"choices": [{"finish_reason": "stop"}], "__verbose": {"stopping_word": "END", "prompt": "…"}}, "END"),
        ({"choices": [{"finish_reason": "stop"}], "__verbose": {"stopping_word": "", "prompt": "…"}}, None),
        ({"choices": [{"finish_reason": "length", "stop_reason": "END"}]}, None),
    ],
)
def test_which_text_ended_an_answer_is_told(told: dict[str, Any], stop: str | None) -> None:
    *_, done = events_of(sse(delta(content="x"), told))
    assert isinstance(done, Done)
    assert done.stop == stop


def test_thinking_that_comes_under_both_names_is_told_once() -> None:
    stream = sse(delta(reasoning="a", reasoning_content="a"), delta("stop"))
    assert list(events_of(stream)) == [ThinkingDelta("a"), Done("stop")]


def test_content_may_come_in_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    stream = sse(delta(content=[thinking, {"type": "text", "text": "Hi"}, {"type": "other"}]), delta("stop"))
    assert list(events_of(stream)) == [ThinkingDelta("Hm"), AssistantDelta("Hi"), Done("stop")]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "stop"), ("length", "length"), ("max_tokens", "length"), ("eos", "stop"), ("tool_calls", "stop")],
)
def test_an_end_is_what_it_means(finish: str, reason: str) -> None:
    assert [event for event in events_of(sse(delta(finish, content="x"))) if isinstance(event, Done)] == [
        Done(reason)  # type: ignore[arg-type]
    ]


def test_an_answer_that_was_withheld_says_so() -> None:
    found = list(events_of(sse(delta("content_filter"))))
    assert isinstance(found[0], Notice)
    assert found[1:] == [Done("stop")]


def test_the_last_usage_counts_and_comes_once() -> None:
    usage = [{"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": number}} for number in range(3)]
    assert list(events_of(sse(*usage, delta("stop")))) == [Usage(1, 2), Done("stop")]


def test_other_choices_are_passed_over() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    assert list(events_of(sse(delta(content="yes"), other, delta("stop")))) == [AssistantDelta("yes"), Done("stop")]


def test_the_word_that_it_is_done_may_be_missing() -> None:
    assert list(events_of(sse(delta("stop", content="x"), done=False))) == [AssistantDelta("x"), Done("stop")]


def test_the_word_that_it_is_done_is_enough() -> None:
    assert list(events_of(sse(delta(content="x")))) == [AssistantDelta("x"), Done("stop")]


def test_what_follows_the_end_is_not_read() -> None:
    assert list(events_of(sse(delta("stop")) + b"data: rubbish\n\n")) == [Done("stop")]


@pytest.mark.parametrize("stream", [b"", sse(delta(content="x"), done=False), b"data: \n\n: ping\n\n"])
def test_a_stream_that_just_ends_was_cut(stream: bytes) -> None:
    with pytest.raises(StreamCut, match="a server ended its answer without a word"):
        list(events_of(stream))


# Errors in the middle


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "out of memory", "code": 500}},
        {"error": "out of memory"},
        {"object": "error", "message": "out of memory", "code": 400},
    ],
)
def test_an_error_inside_a_stream_is_raised(error: object) -> None:
    found = events_of(sse(delta(content="x"), error))
    assert next(found) == AssistantDelta("x")
    with pytest.raises(StreamFailed, match="failed in the middle of its answer: out of memory"):
        next(found)


@pytest.mark.parametrize("finish", ["error", "abort"])
def test_an_end_that_is_a_fault_is_raised(finish: str) -> None:
    with pytest.raises(StreamFailed, match=finish):
        list(events_of(sse(delta(finish))))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"rubbish", "isn't JSON"),
        (b"[]", "another shape"),
        (b'{"choices":[{"delta":{"content":5}}]}', r"another shape \(Expected `str"),
        (b'{"choices":[{"delta":{"content":"\xff"}}]}', "isn't JSON"),
        (b'{"x":' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_chunk_is_a_bad_answer(data: bytes, why: str) -> None:
    with pytest.raises(BadAnswer, match=why):
        list(events_of(b"data: " + data + b"\n\n"))


# One body


def body(**message: object) -> bytes:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).encode()


def whole(body: bytes) -> list[Event]:
    read = reading()
    return [*read.whole(body), *read.close()]


def test_an_answer_may_come_as_one_object() -> None:
    sent = body(
        content="Hi", reasoning_content="Hm", tool_calls=[piece('{"x":1}', name="f"), piece('{"x":1}', name="f")]
    )
    call = ToolCall("new0", "f", {"x": 1}, '{"x":1}')
    assert whole(sent) == [
        ThinkingDelta("Hm"),
        AssistantDelta("Hi"),
        ToolCallEvent(call),
        ToolCallEvent(ToolCall("new1", "f", {"x": 1}, '{"x":1}')),
        Usage(3, 2),
        Done("tool_calls"),
    ]


@pytest.mark.parametrize("sent", [b"{}", b'{"choices":[]}', b'{"choices":null}'])
def test_an_object_without_an_answer_is_a_bad_answer(sent: bytes) -> None:
    with pytest.raises(BadAnswer, match="sent no answer"):
        whole(sent)


# All of it


PIECES = st.builds(
    piece,
    st.none() | st.sampled_from(["", "{}", '{"x":1}', '{"x"', ":1}", "}", '"', "\\", {}, {"y": 2}]),
    name=st.none() | st.sampled_from(["f", "g", ""]),
    index=st.none() | st.integers(0, 2),
    id=st.none() | st.sampled_from(["", "a", "b"]),
)
CHUNKS = st.one_of(
    st.builds(lambda text: delta(content=text), st.text(max_size=5)),
    st.builds(lambda text: delta(reasoning=text), st.text(max_size=5)),
    st.builds(lambda pieces: calls(*pieces), st.lists(PIECES, max_size=3)),
    st.just({"choices": [], "usage": {"prompt_tokens": 1}}),
    st.just({"error": "no"}),
)


def outcome(*pieces: bytes) -> list[object]:
    found: list[object] = []
    try:
        found += events_of(*pieces)
    except CallgateError as error:
        found.append((type(error), error.message))
    return found


@given(st.lists(CHUNKS, max_size=8), st.sampled_from(["stop", "length", None]), st.booleans(), st.data())
def test_it_does_not_matter_where_an_answer_is_cut(
    chunks: list[dict[str, Any]], finish: str | None, done: bool, data: st.DataObject
) -> None:
    stream = sse(*chunks, delta(finish), done=done).replace(b"\n", data.draw(st.sampled_from([b"\n", b"\r\n"])))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    cut = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True) if a != b]
    assert outcome(*cut) == outcome(stream)


@given(st.lists(CHUNKS, max_size=8))
def test_done_is_last_and_comes_once(chunks: list[dict[str, Any]]) -> None:
    found = outcome(sse(*chunks, delta("stop")))
    if isinstance(found[-1], tuple):
        assert not any(isinstance(event, Done) for event in found)
    else:
        assert [isinstance(event, Done) for event in found].index(True) == len(found) - 1
        ids = [event.call.id for event in found if isinstance(event, ToolCallEvent)]
        assert len(ids) == len(set(ids))


def test_the_one_call_of_an_old_server_is_a_call() -> None:
    told = sse(
        delta(role="assistant", function_call={"name": "f", "arguments": ""}),
        delta(function_call={"arguments": '{"a": '}),
        delta(function_call={"arguments": "1}"}),
        delta("function_call"),
    )
    expected = [ToolCallEvent(ToolCall("new0", "f", {"a": 1}, '{"a": 1}')), Done("tool_calls")]
    assert list(events_of(told)) == expected
    call = {"name": "f", "arguments": '{"a": 1}'}
    message = {"role": "assistant", "content": None, "function_call": call}
    read = reading()
    events = read.whole(json.dumps({"choices": [{"message": message, "finish_reason": "function_call"}]}).encode())
    assert [*events, *read.close()] == expected


@pytest.mark.parametrize("nothing", [None, {}, {"name": "", "arguments": ""}, {"name": None, "arguments": None}])
def test_an_old_call_that_is_none_is_passed_over(nothing: object) -> None:
    told = sse(delta(content="hello", function_call=nothing), delta("stop"))
    assert list(events_of(told)) == [AssistantDelta("hello"), Done("stop")]


def test_a_call_that_is_told_in_both_ways_is_told_once() -> None:
    new = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a": 1}'}}
    told = sse(delta("tool_calls", tool_calls=[new], function_call={"name": "f", "arguments": '{"a": 1}'}))
    assert list(events_of(told)) == [ToolCallEvent(ToolCall("c1", "f", {"a": 1}, '{"a": 1}')), Done("tool_calls")]
