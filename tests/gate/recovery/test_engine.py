import json
from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate.recovery import Found, Mark, Recovery, Text, Thinking
from callgate.gate.recovery.engine import MOST_PASSED
from callgate.gate.recovery.formats import FORMATS, KNOWN
from callgate.tools import Names
from callgate.vocabulary import Tool
from tests.gate.recovery.reading import PARIS, TOOLS, calls_in, cut, joined, pieces_of, words_in
from tests.gate.recovery.tokens import TOKENS

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'

fragments = st.one_of(
    st.sampled_from(TOKENS),
    st.sampled_from([known.example for known in KNOWN]),
    st.text(max_size=8),
)
starts: st.SearchStrategy[Literal["text", "thinking"]] = st.sampled_from(("text", "thinking"))
answers = st.lists(fragments, max_size=14).map("".join)


@given(answers, st.data())
def test_a_text_means_the_same_wherever_it_is_cut(text: str, data: st.DataObject) -> None:
    known = data.draw(st.sampled_from([None, *FORMATS]))
    formats = None if known is None else (FORMATS[known],)
    tools = data.draw(st.sampled_from([None, TOOLS, ()]))
    starts_in = data.draw(starts)
    whole = pieces_of(text, tools, formats, starts_in)
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=10)))
    chunks = [text[start:end] for start, end in pairwise([0, *places, len(text)])]
    assert pieces_of(chunks, tools, formats, starts_in) == whole
    assert pieces_of(list(text), tools, formats, starts_in) == whole


@given(answers, st.sampled_from([None, TOOLS]), starts)
def test_nothing_is_lost(text: str, tools: tuple[Tool, ...] | None, starts_in: Literal["text", "thinking"]) -> None:
    pieces = pieces_of(text, tools, None, starts_in)
    assert "".join(piece.raw for piece in pieces) == text


@given(st.lists(st.sampled_from(["Hello", " world", "\n", " 17 * 23", " f", "unc", "é", ".", " of "]), max_size=30))
def test_plain_words_are_given_out_as_they_are(chunks: list[str]) -> None:
    assert words_in(pieces_of(chunks)) == "".join(chunks)


@pytest.mark.parametrize("text", ["Hello", " there", "! It is", " 5 > 3", " and", "\n\nso", " on (see", " below)."])
def test_plain_words_go_out_at_once(text: str) -> None:
    recovery = Recovery(Names(TOOLS))
    recovery.feed("First ")
    assert list(recovery.feed(text)) == [Text(text)]


def test_what_passes_was_read_and_anything_else_was_not() -> None:
    recovery = Recovery(Names(TOOLS), (FORMATS["hermes_json"],))
    assert recovery.passes("Plain words")
    assert not recovery.passes("")
    assert not recovery.passes(" and <tool")
    assert list(recovery.feed(" and <tool")) == [Text(" and ")]
    assert not recovery.passes("s, as we say")
    assert list(recovery.feed("s, as we say")) == [Text("<tools, as we say")]
    assert recovery.passes(".")
    assert not recovery.close()


@pytest.mark.parametrize("begin", ["> ", "As it was: "])
@pytest.mark.parametrize("words", [3, MOST_PASSED, 3 * MOST_PASSED])
def test_however_much_has_passed_the_line_is_known_that_a_call_stands_in(begin: str, words: int) -> None:
    recovery = Recovery(Names(TOOLS), (FORMATS["hermes_json"],))
    passed = [begin, *["so "] * words]
    assert all(map(recovery.passes, passed))
    found = joined([*recovery.feed(CALL), *recovery.close()])
    whole = pieces_of("".join(passed) + CALL, TOOLS, (FORMATS["hermes_json"],))
    assert joined([Text("".join(passed)), *found]) == whole
    assert any(isinstance(piece, Found) for piece in whole) is (begin != "> ")


def test_the_first_word_goes_out_at_once_unless_a_tool_is_called_so() -> None:
    assert list(Recovery(Names(TOOLS)).feed("Hello")) == [Text("Hello")]
    recovery = Recovery(Names(TOOLS))
    assert list(recovery.feed("get_")) == []
    assert joined([*recovery.feed("ting there"), *recovery.close()]) == [Text("get_ting there")]


def test_what_may_become_a_call_is_held_back_and_no_more() -> None:
    recovery = Recovery(Names(TOOLS))
    assert list(recovery.feed("Well <tool")) == [Text("Well ")]
    assert list(recovery.feed("box")) == [Text("<toolbox")]


def test_a_call_is_given_out_as_soon_as_it_ends() -> None:
    recovery = Recovery(Names(TOOLS))
    assert list(recovery.feed(CALL[:-1])) == []
    (found,) = recovery.feed(CALL[-1])
    assert isinstance(found, Found)
    assert (found.name, found.arguments, found.format, found.raw) == (*PARIS[0], "hermes_json", CALL)


def test_each_call_of_a_section_is_given_out_when_it_ends() -> None:
    recovery = Recovery(Names(TOOLS))
    call = '<invoke name="get_time"></invoke>'
    first = [*recovery.feed(f"<minimax:tool_call>{call}"), *recovery.feed("\n")]
    assert [type(piece) for piece in first] == [Found]
    rest = [*recovery.feed(f"{call}</minimax:tool_call>"), *recovery.close()]
    assert [type(piece) for piece in joined(rest)] == [Mark, Found, Mark]


def test_words_around_calls_stay_where_they_are() -> None:
    pieces = pieces_of(f"Before. {CALL} Between. {CALL}\nBehind.")
    assert [type(piece) for piece in pieces] == [Text, Found, Text, Found, Text]
    assert words_in(pieces) == "Before.  Between. \nBehind."


def test_closing_tags_and_tokens_behind_a_call_are_nobodys_words() -> None:
    assert words_in(pieces_of(f"{CALL}\n</tool_call><|im_end|>\n")) == ""


def test_a_token_that_ends_the_answer_is_nobodys_word_but_one_within_it_is() -> None:
    assert words_in(pieces_of("Done.<|im_end|>\n")) == "Done."
    assert words_in(pieces_of("The token <|im_end|> ends a turn.")) == "The token <|im_end|> ends a turn."


def test_a_call_of_an_unknown_tool_stays_text() -> None:
    text = 'So: <tool_call>{"name": "unheard_of", "arguments": {}}</tool_call> Hm.'
    assert pieces_of(text) == [Text(text)]


def test_without_tools_nothing_is_a_call_and_without_names_everything_is() -> None:
    text = '<tool_call>{"name": "unheard_of", "arguments": {}}</tool_call>'
    assert calls_in(text, ()) == []
    assert calls_in(text, None) == [("unheard_of", {})]


def test_a_tag_that_leads_nowhere_does_not_hide_the_call_behind_it() -> None:
    assert calls_in(f"A <tool_call> is a tag. {CALL}") == PARIS
    assert calls_in(f'<tool_call>{{"name": {CALL}') == PARIS


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_call_in_a_block_of_code_is_text_and_one_behind_it_is_a_call(fence: str) -> None:
    block = f"So:\n{fence}\n{CALL}\nx = '{fence}'\n{CALL}\n{fence}\n"
    assert pieces_of(block) == [Text(block)]
    assert calls_in(f"{block}{CALL}") == PARIS


def test_a_fence_within_a_line_is_none() -> None:
    assert calls_in(f"a ``` b {CALL}") == PARIS
    assert calls_in(f"```{CALL}```\n{CALL}") == PARIS


def test_a_call_in_a_quoted_line_is_text_however_long_the_line_is() -> None:
    for quoted in (f"> {CALL}\n", f"> {'so ' * 400}{CALL}\n"):
        assert calls_in(quoted) == calls_in(list(quoted)) == []
        assert calls_in(list(f"{quoted}{CALL}")) == PARIS


# Thinking


def test_thinking_is_told_apart() -> None:
    assert pieces_of("<think>Hm.</think>Yes.") == [Thinking("Hm.", "<think>Hm.</think>"), Text("Yes.")]


def test_an_answer_may_begin_in_its_thinking() -> None:
    assert pieces_of("Hm.</think>Yes.", starts_in="thinking") == [Thinking("Hm.", "Hm.</think>"), Text("Yes.")]


def test_thinking_goes_out_as_it_comes() -> None:
    recovery = Recovery(Names(TOOLS), starts_in="thinking")
    assert list(recovery.feed("So")) == [Thinking("So", "So")]
    assert list(recovery.feed(" it is")) == [Thinking(" it is", " it is")]


def test_a_call_within_thinking_is_a_thought() -> None:
    assert calls_in(f"<think>Maybe {CALL} so.</think>No.") == []
    assert calls_in(f"Maybe {CALL}</think>{CALL}", starts_in="thinking") == PARIS


def test_a_call_that_ends_a_thinking_which_was_never_closed_is_a_call() -> None:
    assert calls_in(f"<think>I need it.\n{CALL}\n") == PARIS
    assert calls_in(f"<think>I need it.\n{CALL} or not") == []


def test_channels_say_what_is_thought_and_what_is_said() -> None:
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather "
        '<|constrain|>json<|message|>{"city": "Paris"}<|call|>'
        "<|start|>assistant<|channel|>final<|message|>Sunny.<|return|>"
    )
    pieces = pieces_of(text)
    assert calls_in(text) == PARIS
    assert words_in(pieces) == "Sunny."
    assert [piece.text for piece in pieces if isinstance(piece, Thinking)] == ["Hm."]


def test_what_a_channel_quotes_is_no_call() -> None:
    call = '<atem:invoke name="get_weather"><atem:parameter name="city">Paris</atem:parameter></atem:invoke>'
    assert calls_in(call) == []
    for whom in ("user", "self"):
        assert calls_in(f" to={whom}<|message|>Like {call} so.<|eom|>") == []
    assert calls_in(f"<|start|>assistant to=get_weather<|message|>{call}<|eot|>") == PARIS


# JSON that is no call

keys = st.sampled_from(["name", "id", "type", "arguments", "parameters", "function", "tool_calls", "age", "a b", "é"])
values = st.recursive(
    st.none() | st.integers(0, 99) | st.sampled_from(["get_weather", "x", "{", "[get_time()]", "a\nb", "<tool_call>"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)
layouts = st.sampled_from(({}, {"indent": 2}, {"separators": (",", ":")}))
documents = st.builds(lambda value, layout: json.dumps(value, **layout), values, layouts)
between = st.sampled_from(["\n", "\n\n", " ", "", ",\n", "So:\n", "Record: ", "```\n", "<think>", "</think>", CALL])


@given(
    st.lists(st.one_of(documents, documents, between), max_size=10).map("".join),
    st.sampled_from([None, TOOLS]),
    st.sampled_from([None, "llama3_json"]),
    st.integers(1, 9),
)
def test_json_means_the_same_wherever_it_is_cut(
    text: str, tools: tuple[Tool, ...] | None, known: str | None, size: int
) -> None:
    formats = None if known is None else (FORMATS[known],)
    whole = pieces_of(text, tools, formats)
    assert "".join(piece.raw for piece in whole) == text
    assert pieces_of(cut(text, size), tools, formats) == whole


@pytest.mark.parametrize("tools", [TOOLS, None])
def test_json_goes_out_at_the_first_key_that_no_call_has(tools: tuple[Tool, ...] | None) -> None:
    recovery = Recovery(None if tools is None else Names(tools))
    assert list(recovery.feed('[{"name": "Ada", "id": 7, ')) == []
    assert words_in(recovery.feed('"age": 36, "city": ')) == '[{"name": "Ada", "id": 7, "age": 36, "city": '
    assert words_in(recovery.feed('{"name": ')) == '{"name": '


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 7, "name": "Ada", "tags": ["a", "b"], "at": {"x": 1, "y": [2, 3]}}\n',
        '{"level":"info","message":"started","at":[1,2,{"a":null}]}\n',
        "So it is:\n" + json.dumps({"name": "Ada", "age": 36, "friends": [{"name": "Bo"}]}, indent=2) + "\n\n",
        "[[1, 2], [3, 4], {}, []]\n",
    ],
)
@pytest.mark.parametrize("tools", [TOOLS, None])
def test_of_json_that_is_no_call_nothing_is_looked_at_often(line: str, tools: tuple[Tool, ...] | None) -> None:
    recovery = Recovery(None if tools is None else Names(tools))
    text = line * 300
    for chunk in cut(text, 4):
        recovery.feed(chunk)
    assert recovery.steps <= 3 * len(text)


def test_a_call_may_follow_other_json_where_calls_may_stand_anywhere() -> None:
    call = CALL.removeprefix("<tool_call>").removesuffix("</tool_call>")
    for other in ('{"id": 1, "name": "x"}', '{"name": "x"}', "[]", '{"a": {"name": "x"}}'):
        assert calls_in(f"{other}\n{call}", TOOLS, (FORMATS["llama3_json"],)) == PARIS
        assert calls_in(f"{other}\n{call}") == []


def test_tags_within_json_that_is_no_call_mean_what_they_mean() -> None:
    assert calls_in(f'{{"name": "x", "id": 1}}{CALL}') == PARIS
    assert calls_in(f'{{"name": "x", "id": [{CALL}]}}') == PARIS


def test_what_json_has_in_its_texts_is_no_call() -> None:
    assert calls_in('{"id": 1, "name": "see [get_time()] so"}', None) == []
    assert calls_in("{\"name\": \"see {'name': 'get_time', 'arguments': {}}\", \"id\": 1}", None) == []


def test_calls_that_follow_a_call_are_found_whatever_is_between_them() -> None:
    call = CALL.removeprefix("<tool_call>").removesuffix("</tool_call>")
    for first in (CALL, call, f"[{call}]", "[get_weather(city='Paris')]"):
        for second in (CALL, call, f"[{call}]", "[get_weather(city='Paris')]"):
            assert calls_in(f"{first}{second}\n\n", None) == PARIS + PARIS
            assert words_in(pieces_of(f"{first}{second}\n\n", None)) == ""
    assert [type(piece) for piece in pieces_of(f"{CALL}[THINK]Hm.[/THINK]{CALL}")] == [Found, Thinking, Found]
