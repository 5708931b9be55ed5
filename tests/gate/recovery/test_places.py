import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate.recovery import Recovery, Text
from callgate.gate.recovery.finders import Finder
from callgate.gate.recovery.places import LONGEST_BEGINNING, MOST_BLANK, guards, may_begin
from callgate.gate.recovery.said import CALL_KEYS
from callgate.tools import Names
from tests.gate.recovery.reading import PARIS, TOOLS, calls_in, cut, pieces_of

MARKS = ("</think>", "[/END]")
GRAMMARS = frozenset({"json", "pythonic"})
words = st.lists(st.sampled_from(list("=([{,+}]:\"'`_.-<>/ \n\tax")), min_size=1, max_size=6).map("".join)


def finder(*, anywhere: bool) -> Finder:
    return Finder((), guards(GRAMMARS, MARKS, anywhere=anywhere), LONGEST_BEGINNING)


@given(words, st.booleans(), st.sampled_from(['{"name"', "[f(", '[{"id"']))
def test_only_where_no_call_may_begin_a_bracket_is_passed_over(before: str, anywhere: bool, call: str) -> None:
    start, _ = finder(anywhere=anywhere).find(before + call, len(before), len(before + call), ended=False)
    if start != len(before):
        assert not may_begin(before, anywhere=anywhere)


@pytest.mark.parametrize("anywhere", [True, False])
@pytest.mark.parametrize("before", ["", "\n", "So\n", *MARKS, *(f"{mark} " for mark in MARKS)])
def test_where_a_call_may_begin_its_bracket_is_found(before: str, anywhere: bool) -> None:
    for call in ('{"name"', '{ "arguments"', "{'type'", "[f(", '[{"id"', '[\n {"tool_calls"'):
        assert finder(anywhere=anywhere).find(before + call, len(before), len(before + call), ended=False) == (
            len(before),
            call[0],
        )


@pytest.mark.parametrize(
    "text", ['{"a"', '{"names"', "{}", "{ x", "[1", '["a"', '[{"a"', "[{}", "[[f(", '{"na\\u006de"']
)
def test_what_begins_like_no_call_is_passed_over(text: str) -> None:
    assert finder(anywhere=True).find(text, 0, len(text), ended=False) == (len(text), "")


@pytest.mark.parametrize("text", ["{", "{ ", '{"', '{"n', '{"name', "[", "[\n", "[{", '[ { "argu'])
def test_what_may_still_begin_like_a_call_is_held_back_while_more_may_come(text: str) -> None:
    assert finder(anywhere=True).find(f"So\n{text}", 0, len(text) + 3, ended=False) == (3, "")
    assert finder(anywhere=True).find(f"So\n{text}", 0, len(text) + 3, ended=True) == (3, text[0])


def test_white_space_before_a_key_has_an_end() -> None:
    for blank, found in ((" " * MOST_BLANK, PARIS), (" " * (MOST_BLANK + 1), [])):
        text = f'[{blank}{{{blank}"name": "get_weather", "arguments": {{"city": "Paris"}}}}]'
        assert calls_in(text) == found
        for size in (1, 7, 50):
            assert pieces_of(cut(text, size)) == pieces_of(text)


def test_the_longest_beginning_is_held_back_to_its_last_character() -> None:
    blank = " " * MOST_BLANK
    text = f'[{blank}{{{blank}"{max(CALL_KEYS, key=len)}'
    assert len(text) == LONGEST_BEGINNING - 1
    assert finder(anywhere=True).find(text, 0, len(text), ended=False) == (0, "")


@pytest.mark.parametrize("text", ['{"a": 1, "b": [2, {"c": 3}]}', "if (x) { y = [1, 2]; }", "see [1] and {2}"])
def test_brackets_of_which_no_call_is_made_go_out_at_once(text: str) -> None:
    recovery = Recovery(Names(TOOLS))
    recovery.feed("So\n")
    assert list(recovery.feed(text)) == [Text(text)]
