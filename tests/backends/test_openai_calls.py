import json
from typing import Any

import pytest

from callgate.backends.openai.calls import MOST_CALLS
from callgate.vocabulary import BadAnswer, Done, ToolCall, ToolCallEvent
from tests.backends.test_openai_reading import calls, delta, events_of, piece, reading, sse


def told(*chunks: object) -> list[ToolCall]:
    stream = sse(*chunks, delta("tool_calls"))
    return [event.call for event in events_of(stream) if isinstance(event, ToolCallEvent)]


def test_a_call_is_told_as_soon_as_it_is_whole() -> None:
    read = reading()
    assert read.feed(json.dumps(calls(piece("", name="f", index=0, id="a"))).encode()) == []
    assert read.feed(json.dumps(calls(piece('{"x":{"y":"}', index=0))).encode()) == []
    assert read.feed(json.dumps(calls(piece('\\"}"}', index=0))).encode()) == []
    assert read.feed(json.dumps(calls(piece("}", index=0))).encode()) == [
        ToolCallEvent(ToolCall("a", "f", {"x": {"y": '}"}'}}, '{"x":{"y":"}\\"}"}}'))
    ]
    read.end()
    assert list(read.close()) == [Done("tool_calls")]


@pytest.mark.parametrize(
    "pieces",
    [
        [calls(piece('{"x":1}', name="f", index=0, id="a")), calls(piece('{"x":2}', name="g", index=1, id="b"))],
        [calls(piece('{"x":1}', name="f", index=0, id="a"), piece('{"x":2}', name="g", index=1, id="b"))],
        # all with one index, as Ollama had it
        [calls(piece('{"x":1}', name="f", index=0, id="a")), calls(piece('{"x":2}', name="g", index=0, id="b"))],
        # without an index
        [calls(piece('{"x":1}', name="f", id="a")), calls(piece('{"x":2}', name="g", id="b"))],
        # in pieces, by index and by id
        [
            calls(piece("", name="f", index=0, id="a")),
            calls(piece('{"x', index=0)),
            calls(piece('":1}', index=0)),
            calls(piece(name="g", index=1, id="b")),
            calls(piece('{"x"', id="b")),
            calls(piece(":2}", index=1, id="b")),
        ],
        # interleaved
        [
            calls(piece("", name="f", index=0, id="a"), piece("", name="g", index=1, id="b")),
            calls(piece('{"x":', index=0), piece('{"x":', index=1)),
            calls(piece("2}", index=1), piece("1}", index=0)),
        ],
        # the second opened before the first has its arguments; the id a piece late
        [
            calls(piece(name="f", index=0)),
            calls(piece('{"x":1', index=0, id="a")),
            calls(piece(name="g", index=1, id="b"), piece("}", index=0)),
            calls(piece('{"x":2}', index=1)),
        ],
        # twice
        [
            calls(piece('{"x":', name="f", index=0, id="a")),
            calls(piece("1}", index=0)),
            calls(piece('{"x":1}', name="f", index=0, id="a")),
            calls(piece('{"x":2}', name="g", index=1, id="b")),
            calls(piece('{"x":2}', index=1)),
        ],
        # a place-holder first
        [
            calls(piece("{}", name="f", index=0, id="a")),
            calls(piece('{"x":1}', index=0)),
            calls(piece({}, name="g", index=1, id="b")),
            calls(piece('{"x":', index=1)),
            calls(piece("2}", index=1)),
        ],
    ],
)
def test_pieces_find_their_calls(pieces: list[dict[str, Any]]) -> None:
    found = told(*pieces)
    assert [(call.id, call.name, call.arguments) for call in found] == [("a", "f", {"x": 1}), ("b", "g", {"x": 2})]
    assert [call.raw for call in found] == ['{"x":1}', '{"x":2}']


@pytest.mark.parametrize(
    "pieces",
    [
        # nothing but the order
        [calls(piece('{"x":1}', name="f"), piece('{"x":2}', name="f"))],
        [calls(piece('{"x":1}', name="f")), calls(piece('{"x":2}', name="f"))],
        [calls(piece('{"x"', name="f")), calls(piece(":1}")), calls(piece('{"x"', name="f")), calls(piece(":2}"))],
        # empty ids and one index for all
        [calls(piece('{"x":1}', name="f", index=0, id="")), calls(piece('{"x":2}', name="f", index=0, id=""))],
        # the name with every piece
        [
            calls(piece('{"x', name="f", index=0)),
            calls(piece('":1}', name="f", index=0)),
            calls(piece('{"x":2}', name="f", index=1)),
            calls(piece('{"x":2}', name="f", index=1)),
        ],
        # objects, and these twice
        [
            calls(piece({"x": 1}, name="f", index=0), piece({"x": 2}, name="f", index=1)),
            calls(piece({"x": 2}, index=1)),
        ],
    ],
)
def test_calls_without_ids_are_told_apart(pieces: list[dict[str, Any]]) -> None:
    found = told(*pieces)
    assert [(call.id, call.name, call.arguments) for call in found] == [
        ("new0", "f", {"x": 1}),
        ("new1", "f", {"x": 2}),
    ]


def test_calls_that_share_an_id_are_still_two() -> None:
    found = told(
        calls(piece('{"x":1}', name="f", index=0, id="same")), calls(piece('{"x":2}', name="f", index=1, id="same"))
    )
    assert [(call.id, call.arguments) for call in found] == [("same", {"x": 1}), ("new0", {"x": 2})]


@pytest.mark.parametrize(
    ("arguments", "expected"), [("", {}), (None, {}), ("{}", {}), ({}, {}), (" \n", {}), ("null", "null")]
)
def test_a_call_may_have_no_arguments(arguments: object, expected: object) -> None:
    (call,) = told(calls(piece(arguments, name="f", index=0, id="a")))
    assert (call.name, call.arguments) == ("f", expected)


@pytest.mark.parametrize("arguments", ['{"x":', "[1]", "rubbish", '{"x":1}}', '"{}"', "{" * 5000])
def test_arguments_that_are_no_object_stay_as_the_model_wrote_them(arguments: str) -> None:
    (call,) = told(calls(piece(arguments, name="f", index=0, id="a")))
    assert (call.arguments, call.raw) == (arguments, arguments)


def test_a_call_cut_short_by_the_limit_is_told_as_it_is() -> None:
    stream = sse(calls(piece('{"x":', name="f", index=0, id="a")), delta("length"))
    assert list(events_of(stream)) == [ToolCallEvent(ToolCall("a", "f", '{"x":', '{"x":')), Done("length")]


def test_calls_are_told_in_the_order_in_which_they_began() -> None:
    found = told(
        calls(piece("", name="f", index=0, id="a"), piece("", name="g", index=1, id="b")),
        calls(piece('{"x":2}', index=1)),
    )
    assert [call.name for call in found] == ["f", "g"]


def test_endlessly_many_calls_are_refused() -> None:
    with pytest.raises(BadAnswer, match="more than 256 tool calls"):
        told(*(calls(piece("{}", name="f", id=str(number))) for number in range(MOST_CALLS + 1)))


def test_the_end_of_arguments_is_found_in_one_pass() -> None:
    """An attempt to parse at each brace would take hours here."""
    braces = 200_000
    opening = calls(piece('{"x":[' + "{}," * braces, name="f", index=0, id="a"))
    (call,) = told(opening, *[calls(piece("{},", index=0))] * 20_000, calls(piece("{}]}", index=0)))
    assert isinstance(call.arguments, dict)
    assert len(call.arguments["x"]) == braces + 20_001
