"""Emulated answers, read while they are written."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from callgate.gate.emulation.answers import EmulatedAnswer
from callgate.gate.emulation.closing import closed
from callgate.gate.emulation.json_answers import JsonAnswer
from callgate.gate.emulation.schema_text import LONGEST_TEXT
from callgate.gate.emulation.tag_answers import TagAnswer
from callgate.gate.recovery import Found, Half, Piece, Recovery, Text
from callgate.tools import Names
from callgate.vocabulary import Tool

SHAPES = {
    "add": closed(
        {"type": "object", "properties": {"a": {"type": "number"}, "more": {"type": "object"}}}, 500, longest_text=100
    )
}


def as_json() -> EmulatedAnswer:
    return JsonAnswer(SHAPES)


def own_json() -> EmulatedAnswer:
    return JsonAnswer(SHAPES, plain_reply=False)


def in_tags() -> EmulatedAnswer:
    return TagAnswer(SHAPES)


def recovery() -> Recovery:
    return Recovery(Names((Tool("add", "", {"type": "object", "properties": {"a": {"type": "number"}}}),)))


def as_json_or_anything() -> EmulatedAnswer:
    return JsonAnswer(SHAPES, otherwise=recovery)


def in_tags_or_anything() -> EmulatedAnswer:
    return TagAnswer(SHAPES, otherwise=recovery)


def read(make: Callable[[], EmulatedAnswer], *chunks: str) -> list[Piece]:
    reader = make()
    return joined([*(piece for chunk in chunks for piece in reader.feed(chunk)), *reader.close()])


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Text) and found and isinstance(found[-1], Text):
            found[-1] = Text(found[-1].text + piece.text)
        else:
            found.append(piece)
    return found


def words(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def calls(pieces: Sequence[Piece]) -> list[tuple[str, Any]]:
    return [(piece.name, piece.arguments) for piece in pieces if isinstance(piece, Found)]


# --- JSON ---


def test_a_reply_streams_as_it_is_written() -> None:
    reader = as_json()
    assert reader.feed('{"reply"') == []
    assert reader.feed(': ["Hel') == [Text("Hel")]
    assert reader.feed('lo \\"you') == [Text('lo "you')]
    assert reader.feed("\\") == []
    assert reader.feed("n!") == [Text("\n!")]
    assert reader.feed('"]}') == []
    assert reader.close() == []


def test_paragraphs_are_apart_unless_the_schema_cut_them() -> None:
    assert words(read(as_json, '{"reply":["One.", "Two."]}')) == "One.\n\nTwo."
    cut = "x" * LONGEST_TEXT
    assert words(read(as_json, json.dumps({"reply": [cut, "yz"]}))) == cut + "yz"


def test_a_reply_may_be_a_plain_text_too() -> None:
    assert read(as_json, '{"reply": "Hello"}') == [Text("Hello")]


def test_a_character_in_two_escapes_is_one() -> None:
    reader = as_json()
    reader.feed('{"reply":["')
    assert [*reader.feed("\\ud83d"), *reader.feed("\\u"), *reader.feed("de00")] == [Text("😀")]


@pytest.mark.parametrize("broken", [r"\ud83d", r"\ude00", r"\ud83dx", r"\ud83d\n", r"\ud83d\u0041"])
def test_half_a_character_is_no_trouble(broken: str) -> None:
    said = words(read(as_json, f'{{"reply":["a{broken}b"]}}'))
    assert said.encode()
    assert said[0] + said[-1] == "ab"
    assert "\ufffd" in said


@hypothesis.given(st.lists(st.text(max_size=30), min_size=1, max_size=4), st.booleans(), st.data())
def test_any_cut_gives_the_same_reply(paragraphs: list[str], ascii_only: bool, data: st.DataObject) -> None:
    paragraphs = [text.encode("utf-8", "replace").decode() for text in paragraphs]
    raw = json.dumps({"reply": paragraphs}, ensure_ascii=ascii_only)
    pieces = read(as_json, *data.draw(chunks_of(raw)))
    assert pieces == read(as_json, raw)
    assert words(pieces) == "\n\n".join(filter(None, paragraphs))


def chunks_of(text: str) -> st.SearchStrategy[list[str]]:
    def cut(at: list[int]) -> list[str]:
        places = [0, *sorted(at), len(text)]
        return [text[low:high] for low, high in itertools.pairwise(places)]

    return st.lists(st.integers(0, len(text)), max_size=8).map(cut)


def test_calls_come_when_they_are_whole() -> None:
    reader = as_json()
    assert reader.feed('{\n "calls": [ {"name":"add","parameters":{"a":"1.5"}') == []
    (found,) = reader.feed("}, ")
    assert isinstance(found, Found)
    assert (found.name, found.arguments) == ("add", {"a": 1.5})
    assert found.raw == '{"name":"add","parameters":{"a":"1.5"}}'
    assert reader.feed("]}") == []
    assert reader.close() == []


def test_pairs_become_an_object() -> None:
    raw = '{"calls":[{"name":"add","parameters":{"more":[{"key":"x","value":"1"},{"key":"y","value":null}]}}]}'
    assert calls(read(as_json, raw)) == [("add", {"more": {"x": "1", "y": None}})]


def test_a_call_that_only_lacks_its_end_is_whole() -> None:
    assert calls(read(as_json, '{"calls":[{"name":"add","parameters":{"a":"1"}')) == [("add", {"a": 1})]


@pytest.mark.parametrize("cut", ['{"name":"add","parameters":{"a":"1', '{"name":"add","par', "{"])
def test_a_call_that_is_cut_within_is_given_back(cut: str) -> None:
    assert read(as_json, '{"calls":[' + cut) == [Half(), Text(cut)]


def test_a_reply_that_is_cut_is_kept() -> None:
    assert read(as_json, '{"reply":["Hel') == [Text("Hel")]
    assert read(as_json, '{"reply":["Hel\\u00') == [Text("Hel")]


@pytest.mark.parametrize(
    "other", ["Hello", '{"answer": 1}', '{"calls": 7}', "[]", '{"calls', "{" + " " * 500, '{"reply": 3}', ""]
)
def test_what_is_no_such_answer_is_given_back(other: str) -> None:
    assert words(read(as_json, other)) == other
    assert words(read(as_json, *other)) == other


def test_what_comes_behind_is_not_lost() -> None:
    assert words(read(as_json, '{"reply":["a"]}\n\nAnd more')) == "aAnd more"


def test_a_reply_of_the_users_own_form_is_given_out_as_json() -> None:
    raw = '{"city": "Pa\\"ris", "list": [1, {"a": "]"}]}'
    assert words(read(own_json, f'{{"reply": {raw} }}')) == raw
    assert words(read(own_json, *f'{{"reply": {raw} }}')) == raw
    for scalar in ("true", "12", '"x"', "null"):
        assert words(read(own_json, f'{{"reply":{scalar}}}')) == scalar


# --- tags ---

CALL = '<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>'


def test_words_stream_and_calls_are_whole() -> None:
    reader = in_tags()
    assert reader.feed("Let me see. <to") == [Text("Let me see. ")]
    assert reader.feed("p> <tool_ca") == [Text("<top> ")]
    assert reader.feed('ll>{"name":"add","arguments":{"a":1}}') == []
    assert reader.feed("</tool_c") == []
    (found,) = reader.feed("all>")
    assert isinstance(found, Found)
    assert found.raw == CALL
    assert reader.close() == []


def test_white_space_around_calls_is_nobodys_words() -> None:
    assert calls(read(in_tags, f"{CALL}\n{CALL}\n")) == [("add", {"a": 1})] * 2
    assert words(read(in_tags, f"{CALL}\n{CALL}\n")) == ""
    assert words(read(in_tags, f"{CALL}\nDone.")) == "\nDone."


def test_a_closing_tag_may_be_missing() -> None:
    assert calls(read(in_tags, CALL.removesuffix("</tool_call>"))) == [("add", {"a": 1})]
    assert calls(read(in_tags, CALL.removesuffix("}</tool_call>"))) == [("add", {"a": 1})]


@pytest.mark.parametrize(
    "other",
    [
        "<tool_call>no JSON</tool_call>",
        '<tool_call>{"name":"add","arguments":{"a":',
        '<tool_call>{"name":3}</tool_call> and so on',
        "<tool_call>",
        "<tool_call>  ",
        "a < b <tool",
    ],
)
def test_what_is_no_call_is_given_back(other: str) -> None:
    for pieces in (read(in_tags, other), read(in_tags, *other)):
        assert [piece for piece in pieces if piece != Half()] == [Text(other)]


def test_a_tag_within_an_argument_ends_nothing() -> None:
    raw = '<tool_call>{"name":"x","arguments":{"t":"</tool_call>{\\"["}}</tool_call>'
    assert calls(read(in_tags, raw)) == [("x", {"t": '</tool_call>{"['})]


@pytest.mark.parametrize(
    ("make", "start", "more"),
    [
        (as_json, '{"calls":[', '{"name":"' + "x" * 999),
        (in_tags, "<tool_call>", '{"name":"' + "x" * 999),
        (in_tags, "<tool_call>", " " * 999),
        (in_tags, "<tool_call>{}", " " * 999),
    ],
)
def test_an_endless_call_is_not_held_for_ever(make: Callable[[], EmulatedAnswer], start: str, more: str) -> None:
    reader = make()
    reader.feed(start)
    held = 0
    while not reader.feed(more):
        held += len(more)
        assert held < 400_000


PARTS = st.lists(
    st.sampled_from(
        [
            *(CALL, "<tool_call>", "</tool_call>", '{"name":"add","arguments":{}}', "{", "}", '"', "\\", " ", "a", "<"),
            *('{"reply":["', '{"calls":[', "]", ",", "\\u", "d83d", '"parameters":{', '"name":"add"', "\n"),
        ]
    ),
    max_size=12,
).map("".join)


@hypothesis.given(PARTS, st.sampled_from([as_json, own_json, in_tags]), st.data())
def test_any_cut_of_anything_gives_the_same(raw: str, make: Callable[[], EmulatedAnswer], data: st.DataObject) -> None:
    whole = read(make, raw)
    assert read(make, *data.draw(chunks_of(raw))) == whole
    assert read(make, *raw) == whole


@hypothesis.given(PARTS)
def test_in_tags_nothing_is_lost(raw: str) -> None:
    found = read(in_tags, raw)
    given = "".join(piece.raw for piece in found)
    assert "".join(given.split()) == "".join(raw.split())


# --- what keeps to no convention ---

FOREIGN = [
    '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>',
    '{"name": "add", "arguments": {"a": 1}}',
    '[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}]',
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
    '<tool_call>{"name": "add", "parameters": {"a": 1}}</tool_call>',
]
READERS = [as_json_or_anything, in_tags_or_anything]


@pytest.mark.parametrize("make", READERS)
@pytest.mark.parametrize("raw", FOREIGN)
def test_calls_of_another_form_are_found(make: Callable[[], EmulatedAnswer], raw: str) -> None:
    assert calls(read(make, raw)) == [("add", {"a": 1})]
    assert calls(read(make, *raw)) == [("add", {"a": 1})]
    assert words(read(make, raw)).strip() == ""


def test_a_call_with_another_word_for_its_arguments_is_found_among_calls() -> None:
    raw = '{"calls":[{"name":"add","arguments":{"a":1}},{"name":"add","parameters":{"a":"2"}}]}'
    assert calls(read(as_json_or_anything, raw)) == [("add", {"a": 1}), ("add", {"a": 2})]


@pytest.mark.parametrize("raw", FOREIGN)
def test_a_reply_is_words_whatever_it_says(raw: str) -> None:
    reply = json.dumps({"reply": [raw]})
    assert read(as_json_or_anything, reply) == [Text(raw)]


@pytest.mark.parametrize("cut", ['{"name":"add","parameters":{"a":"1', '{"name":"add","par', "{"])
def test_half_a_call_is_no_call_for_anybody(cut: str) -> None:
    assert read(as_json_or_anything, '{"calls":[' + cut) == [Half(), Text(cut)]
    assert calls(read(in_tags_or_anything, "Well. <tool_call>" + cut)) == []


def test_words_of_no_convention_still_stream() -> None:
    assert words(as_json_or_anything().feed("Hello you")) == "Hello you"
    assert words(in_tags_or_anything().feed("Hello you")) == "Hello you"


@hypothesis.given(PARTS, st.sampled_from([(as_json, as_json_or_anything), (in_tags, in_tags_or_anything)]))
def test_what_keeps_to_the_convention_is_read_the_same(
    raw: str, makers: tuple[Callable[[], EmulatedAnswer], Callable[[], EmulatedAnswer]]
) -> None:
    alone, with_more = (read(make, raw) for make in makers)
    assert [piece for piece in with_more if isinstance(piece, Found) and piece.format == "emulated"] == [
        piece for piece in alone if isinstance(piece, Found)
    ]


@hypothesis.given(PARTS, st.sampled_from(READERS), st.data())
def test_any_cut_of_anything_gives_the_same_in_any_form(
    raw: str, make: Callable[[], EmulatedAnswer], data: st.DataObject
) -> None:
    whole = read(make, raw)
    for pieces in (read(make, *data.draw(chunks_of(raw))), read(make, *raw)):
        assert (calls(pieces), words(pieces)) == (calls(whole), words(whole))


@hypothesis.given(PARTS)
def test_in_tags_or_any_form_nothing_is_lost(raw: str) -> None:
    given = "".join(piece.raw for piece in read(in_tags_or_anything, raw))
    assert "".join(given.split()) == "".join(raw.split())
