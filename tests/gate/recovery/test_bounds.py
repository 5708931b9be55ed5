"""Bounds: what is longer is no call, and that follows from the text alone, in no more time than the text is long."""

import re
from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.gate.recovery import Recovery
from callgate.gate.recovery import engine as engine_file
from callgate.gate.recovery.formats import KNOWN
from callgate.tools import Names
from tests.gate.recovery.reading import PARIS, TOOLS, calls_in, cut, pieces_of, words_in
from tests.gate.recovery.tokens import TOKENS

RUNS = ["a", " ", "\n", "=", '"', "7", "_", "é"]
repeated = st.tuples(st.sampled_from([*TOKENS, *RUNS]), st.integers(50, 500)).map(lambda pair: pair[0] * pair[1])
runs = st.tuples(st.sampled_from(RUNS), st.sampled_from([35, 260, 405, 1005, 1100])).map(lambda pair: pair[0] * pair[1])
examples = st.sampled_from([known.example for known in KNOWN])


@st.composite
def overlong(draw: st.DrawFn) -> str:
    """A call, with something that is far too long in the middle of it, and another behind it."""
    example = draw(examples)
    place = draw(st.sampled_from([end.end() for end in re.finditer(r"\w+|\W", example)]))
    return f"{example[:place]}{draw(runs | runs | repeated)}{example[place:]}{draw(st.just('') | examples)}"


def chunks_of(text: str, data: st.DataObject) -> list[str]:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=10)))
    return [text[start:end] for start, end in pairwise([0, *places, len(text)])]


@given(overlong(), st.data())
def test_what_is_far_too_long_means_the_same_wherever_it_is_cut(text: str, data: st.DataObject) -> None:
    for tools in (None, TOOLS):
        whole = pieces_of(text, tools)
        assert pieces_of(chunks_of(text, data), tools) == whole
        assert pieces_of(list(text), tools) == whole


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(TOKENS) | examples | runs, max_size=8).map("".join),
    st.integers(1, 200),
    st.integers(0, 1000),
    st.data(),
)
def test_where_the_engine_gives_up_does_not_depend_on_the_cuts(
    text: str, held: int, read_again: int, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_file, "MOST_HELD", held)
        patch.setattr(engine_file, "MOST_READ_AGAIN", read_again)
        whole = pieces_of(text)
        assert "".join(piece.raw for piece in whole) == text
        assert pieces_of(chunks_of(text, data)) == whole
        assert pieces_of(list(text)) == whole
        patch.setattr(engine_file, "MOST_AT_ONCE", 7)
        assert pieces_of(text) == whole


CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
WEATHER = "<parameter=city>Paris</parameter></function>"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"<function=get_weather{' ' * 988}>{WEATHER}", PARIS),
        (f"<function=get_weather{' ' * 989}>{WEATHER}", []),
        (f"<function=get_weather><parameter=city{' ' * 995}>Paris</parameter></function>", PARIS),
        (f"<function=get_weather><parameter=city{' ' * 996}>Paris</parameter></function>", []),
        (f'<|open|>call tool="get_time"{" " * 984}<|sep|><|close|>call<|sep|>', [("get_time", {})]),
        (f'<|open|>call tool="get_time"{" " * 985}<|sep|><|close|>call<|sep|>', []),
        (f'[TOOL_CALLS]get_weather{" " * 245}[ARGS]{{"city": "Paris"}}', PARIS),
        (f'[TOOL_CALLS]get_weather{" " * 246}[ARGS]{{"city": "Paris"}}', []),
        (f"<|tool_call>call:get_weather{' ' * 245}{{city:<escape>Paris<escape>}}", PARIS),
        (f"<|tool_call>call:get_weather{' ' * 246}{{city:<escape>Paris<escape>}}", []),
        (f'<|channel|>commentary{" " * 375} to=get_weather<|message|>{{"city": "Paris"}}', PARIS),
        (f'<|channel|>commentary{" " * 376} to=get_weather<|message|>{{"city": "Paris"}}', []),
        (f'```{"j" * 32}\n{{"name": "get_time", "arguments": {{}}}}```', [("get_time", {})]),
        (f'```{"j" * 33}\n{{"name": "get_time", "arguments": {{}}}}```', []),
        (f'<|python_start|>[get_weather(city="Paris"{" " * 3000})]', PARIS),
        (f"{'<tool_call>' * 40}{CALL.removeprefix('<tool_call>')}", PARIS),
        (f"functools{'functools' * 50}{CALL}", PARIS),
        ('functoolsfunctools[{"name": "get_time", "arguments": {}}]', []),
        ('myfunctools[{"name": "get_time", "arguments": {}}]', []),
        ('Hm<think>Well</think>functools[{"name": "get_time", "arguments": {}}]', [("get_time", {})]),
    ],
)
def test_a_bound_is_the_same_wherever_the_text_is_cut(text: str, found: list[object]) -> None:
    assert calls_in(text) == found
    for size in (1, 3, 50):
        assert pieces_of(cut(text, size)) == pieces_of(text)


def test_a_name_that_is_too_long_is_none_where_every_name_counts() -> None:
    for size in (1, 100, 1000):
        assert calls_in(cut(f"{'a' * 256}(x=1)", size), None) == [("a" * 256, {"x": 1})]
        assert calls_in(cut(f"{'a' * 257}(x=1)", size), None) == []
        assert calls_in(cut(f"<|tool_call>call:{'a' * 256}{{}}", size), None) == [("a" * 256, {})]
        assert calls_in(cut(f"<|tool_call>call:{'a' * 257}{{}}", size), None) == []


def test_the_rest_of_a_header_is_one_line_wherever_it_is_cut() -> None:
    for size in (1, 2, 100):
        assert words_in(pieces_of(cut(" to=user <|message|>Hi", size))) == "Hi"
        assert words_in(pieces_of(cut(" to=user\n<|message|>Hi", size))) == " to=user\n<|message|>Hi"
        assert words_in(pieces_of(cut(f"to={'a' * 401}<|message|>Hi", size))) == f"to={'a' * 401}<|message|>Hi"


# Work


def test_what_never_ends_is_text_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_file, "MOST_HELD", 1000)
    recovery = Recovery(Names(TOOLS))
    given_out = 0
    for _ in range(300):
        given_out += sum(len(piece.raw) for piece in recovery.feed('<tool_call>{"name": "' + "x" * 40))
    assert given_out > 300 * 61 - 3000


@pytest.mark.parametrize(
    "unit",
    [
        '<tool_call>{"a": "',
        "<tool_call>",
        "{",
        '[{"name": ',
        "```",
        "<function=x><parameter=y>",
        '{"name": "get_time", ',
        "<|start|>",
        "<|channel|>analysis",
        "<|open|>call ",
        "<|tool_call_start|>",
        "<|tool_call_start|>[get_time()]",
        "<|tool_call_start|>[other()]",
        "[TOOL_CALLS]name",
        "functools",
        "a",
    ],
)
@pytest.mark.parametrize("starts_in", ["text", "thinking"])
@pytest.mark.parametrize("size", [1, 1000, 1_000_000])
def test_work_grows_no_faster_than_the_text(
    unit: str, size: int, starts_in: Literal["text", "thinking"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_file, "MOST_READ_AGAIN", 20_000)
    monkeypatch.setattr(engine_file, "MOST_AT_ONCE", 1_000_000)

    def steps(times: int) -> int:
        recovery = Recovery(Names(TOOLS), starts_in=starts_in)
        for chunk in cut(unit * times, size):
            recovery.feed(chunk)
        recovery.close()
        return recovery.steps

    assert steps(4000) <= 10 * steps(500) + 200_000


def test_a_word_without_an_end_is_not_read_from_its_beginning_each_time() -> None:
    recovery = Recovery(None)
    for char in "a" * 20_000:
        recovery.feed(char)
    assert recovery.steps < 1_000_000


def test_deep_nesting_is_no_danger() -> None:
    for text in (
        "[" * 100_000,
        '{"name": ' * 50_000,
        "<tool_call>[" + "[" * 100_000,
        "get_weather(city=" + "(" * 100_000,
    ):
        assert calls_in(text) == []
        assert words_in(pieces_of(text)) == text
