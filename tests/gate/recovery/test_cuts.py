import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate.recovery import Found, Half, Text
from callgate.gate.recovery.cuts import call_spans
from callgate.vocabulary import Tool
from tests.gate.recovery.reading import PARIS, calls_in, pieces_of, words_in
from tests.gate.recovery.tokens import TOKENS

CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
NOPE = '{"name": "nope", "arguments": {"x": "}]"}}'
PAY = Tool("pay", parameters={"type": "object", "properties": {"amount": {"type": "integer"}}})


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        (f"<tool_calls>[{CALL}, {NOPE}]</tool_calls>", NOPE),
        (f"[TOOL_CALLS][{NOPE}, {CALL}]", NOPE),
        (f"<tool_call>{CALL}\n{NOPE}</tool_call>", NOPE),
        ("<|tool_call_start|>[get_weather(city='Paris'), nope(x=')')]<|tool_call_end|>", "nope(x=')')"),
    ],
)
def test_a_call_of_an_unknown_tool_among_others_comes_out_as_text(text: str, unknown: str) -> None:
    pieces = pieces_of(text)
    assert calls_in(text) == PARIS
    assert words_in(pieces) == unknown
    assert "".join(piece.raw for piece in pieces) == text
    assert pieces_of(list(text)) == pieces


@pytest.mark.parametrize("text", [f"[{CALL}, {NOPE}]", "[get_weather(city='Paris'), nope(x=1)]", f"{CALL}\n{NOPE}"])
def test_with_nothing_to_announce_it_all_of_it_is_text(text: str) -> None:
    assert pieces_of(text) == [Text(text)]


@pytest.mark.parametrize("text", [f"<tool_calls>[{CALL}, {CALL}]</tool_calls>", f"[{CALL},{CALL}]", f"{CALL}\n{CALL}"])
def test_each_call_of_a_block_has_what_was_sent_for_it(text: str) -> None:
    pieces = pieces_of(text)
    assert [piece.sent for piece in pieces if isinstance(piece, Found)] == [CALL, CALL]
    assert "".join(piece.raw for piece in pieces) == text


def test_a_block_that_cant_be_cut_is_what_was_sent_for_each() -> None:
    text = '<tool_calls>[{"name": "get_\\u0077eather", "arguments": {"city": "Paris"}}, ' + f"{CALL}]</tool_calls>"
    found = [piece for piece in pieces_of(text) if isinstance(piece, Found)]
    assert [piece.sent for piece in found] == [text, text]
    assert [piece.raw for piece in found] == [text, ""]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "pay", "arguments": {"amount": 12',
        '{"name": "pay", "arguments": {"amount": 12',
        '[TOOL_CALLS]pay[ARGS]{"amount": 12',
        "<|tool_call_start|>[pay(amount=12",
        "<function=pay><parameter=amount>12",
    ],
)
def test_a_call_that_is_cut_off_within_a_number_is_none(text: str) -> None:
    assert [piece for piece in pieces_of(text, [PAY]) if not isinstance(piece, Half)] == [Text(text)]


@given(st.lists(st.one_of(st.sampled_from(TOKENS), st.text(max_size=4)), max_size=20).map("".join), st.integers(1, 4))
def test_parts_stand_one_behind_another(text: str, count: int) -> None:
    at = 0
    for start, end in call_spans(text, [""] * count):
        assert at <= start < end <= len(text)
        at = end
