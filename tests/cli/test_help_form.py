"""Help fits the terminal, whatever its width, and loses nothing."""

from __future__ import annotations

import re
from argparse import ArgumentParser, _SubParsersAction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.cli import COMMANDS, parser_of
from callgate.cli.command_tree import command_tree
from callgate.cli.help_form import laid_out

TEXTS = [
    text for command in command_tree(parser_of(*COMMANDS)).all() for text in (command.about, command.closing) if text
]


@pytest.mark.parametrize("width", [70, 78, 118])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_never_wider_than_the_terminal(command: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width + 2))
    wide = [line for line in _parser(command).format_help().splitlines() if len(line) > width + 2]
    assert [line for line in wide if len(line.split()) > 1] == []


@pytest.mark.parametrize("width", [40, 78, 200])
def test_every_word_of_a_help_text_is_still_there(width: int) -> None:
    for text in TEXTS:
        assert _words("\n".join(laid_out(text, width))) == _words(text)


def test_a_name_with_hyphens_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "X-Callgate-Tools-Trimmed" in _parser("serve").format_help()


def test_a_note_that_does_not_fit_goes_below_its_command() -> None:
    assert list(laid_out("  callgate chat      talk to it", 20)) == ["  callgate chat", "        talk to it"]


def test_a_command_that_does_not_fit_goes_on_behind_a_backslash() -> None:
    assert list(laid_out("  callgate ask tiny 'Hello'", 20)) == ["  callgate ask \\", "      tiny 'Hello'"]


def test_the_list_of_exit_statuses_is_broken_between_two_of_them() -> None:
    text = "exit status: 0 done · 1 it failed\n             4 out of reach"
    assert list(laid_out(text, 30)) == [
        "exit status: 0 done",
        "             1 it failed",
        "             4 out of reach",
    ]
    assert list(laid_out(text, 80)) == ["exit status: 0 done · 1 it failed · 4 out of reach"]


@given(st.text(alphabet="ab \n:·1", max_size=200), st.integers(30, 120))
def test_any_text_is_laid_out_with_all_its_words(text: str, width: int) -> None:
    assert _words("\n".join(laid_out(text, width))) == _words(text)


def _words(text: str) -> list[str]:
    return re.sub(r"[·\\]", " ", text).split()


def _parser(command: str) -> ArgumentParser:
    choices = next(each.choices for each in parser_of(command)._actions if isinstance(each, _SubParsersAction))
    found: ArgumentParser = choices[command]
    return found
