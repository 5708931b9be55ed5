from __future__ import annotations

import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.chat.cleaning import LONGEST_SEQUENCE, Cleaner, cleaned, on_one_line, with_colours

HOSTILE = st.text(
    st.one_of(st.sampled_from("\x1b\x9b\x9d\x90\x9c\x07[];?0123456789mHJ\\\n\t\r\u202e\u200d"), st.characters()),
    max_size=60,
)


def is_harmless(text: str) -> bool:
    return all(letter.isprintable() or letter in "\n\t\u200c\u200d" or category(letter) == "Zs" for letter in text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain words", "plain words"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x9d52;c;AAAA\x9cafter", "after"),
        ("\x1bP+q\x1b\\after", "after"),
        ("\x1bcreset", "reset"),
        ("bell\x07 back\x08space", "bell backspace"),
        ("\u202eright to left", "right to left"),
        ("windows\r\nlines\rand a return", "windows\nlinesand a return"),
        ("\x1b[31", "[31"),
        ("a family: \U0001f468\u200d\U0001f469", "a family: \U0001f468\u200d\U0001f469"),
        ("\x1b]0;never ends\nbut the line does", "\nbut the line does"),
    ],
)
def test_what_a_terminal_would_obey_is_gone(text: str, left: str) -> None:
    assert cleaned(text) == left


@given(HOSTILE)
def test_nothing_is_left_but_what_can_be_printed(text: str) -> None:
    assert is_harmless(cleaned(text))


@given(st.lists(HOSTILE, max_size=6))
def test_pieces_are_as_harmless_as_the_whole(pieces: list[str]) -> None:
    cleaner = Cleaner()
    said = "".join([*(cleaner.feed(piece) for piece in pieces), cleaner.close()])
    assert is_harmless(said)
    if "\r" not in "".join(pieces):
        assert said == cleaned("".join(pieces))


@given(st.text(st.characters(exclude_categories=("C", "Zl", "Zp"))))
def test_what_can_be_printed_is_left_alone(text: str) -> None:
    assert cleaned(text) == text


def test_a_sequence_that_never_ends_doesnt_swallow_the_rest() -> None:
    text = "\x1b]0;" + "a" * 10_000
    assert len(cleaned(text)) > 10_000 - 2 * LONGEST_SEQUENCE


def test_one_line_is_one_line() -> None:
    assert on_one_line("a\n b\t\x1b[31mc") == "a b c"


def test_of_what_was_drawn_here_the_colours_stay_and_nothing_else() -> None:
    assert with_colours("\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b[2Jafter") == "\x1b[1;31mred\x1b[0m after"


@given(HOSTILE)
def test_without_its_colours_it_is_harmless(text: str) -> None:
    assert is_harmless(re.sub(r"\x1b\[[0-9;]*m", "", with_colours(text)))
