from __future__ import annotations

import io

import pytest

from callgate.cli.screen import Screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("said", "coloured"), [(None, True), ("", True), ("1", False), ("0", False)])
def test_no_colour_is_asked_for_by_a_variable_that_isnt_empty(
    said: str | None, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if said is not None:
        monkeypatch.setenv("NO_COLOR", said)
    assert ("\x1b[" in Screen(Terminal()).styled("yes", "good")) == coloured


def test_what_is_no_terminal_gets_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Screen(io.StringIO()).styled("yes", "good") == "yes"
    monkeypatch.setenv("TERM", "dumb")
    assert Screen(Terminal()).styled("yes", "good") == "yes"
