"""Somebody sits at a terminal, and is asked before a tool is run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command import CALLGATE, environ
from tests.cli.test_ask_tools import SUMS, Record, call, error, record, text

if sys.platform == "win32":
    pytest.skip("there are no such terminals", allow_module_level=True)

import fcntl
import pty
import termios

__all__ = ["record"]

QUESTION = "allow? (y/n/always) "


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes], leader: int) -> None:
        self.process = process
        self._leader = leader
        self.seen = ""

    def until(self, words: str) -> None:
        """Reads until these are on the screen."""
        while words not in self.seen:
            piece = self._read()
            assert piece, f"it ended without {words!r}: {self.seen}"
            self.seen += piece

    def types(self, keys: str) -> None:
        os.write(self._leader, keys.encode())

    def ends(self) -> int:
        while piece := self._read():
            self.seen += piece
        return self.process.wait(timeout=60)

    def _read(self) -> str:
        try:
            return os.read(self._leader, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError:  # how a terminal says on Linux that nobody writes to it any more
            return ""


@contextmanager
def terminal(*words: str, given: bytes | None = None) -> Iterator[Terminal]:
    """`callgate ask` in a terminal of its own; `given` comes through a pipe instead of the keyboard."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*CALLGATE, "ask", *words],
        stdin=follower if given is None else subprocess.PIPE,
        stdout=follower,
        stderr=follower,
        env=environ() | {"TERM": "xterm", "NO_COLOR": "1"},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),  # noqa: PLW1509
    )
    os.close(follower)
    if process.stdin:
        process.stdin.write(given or b"")
        process.stdin.close()
    try:
        yield Terminal(process, leader)
    finally:
        process.kill()
        process.wait()
        os.close(leader)


@pytest.fixture
def asked(record: Record, tmp_path: Path) -> list[str]:
    (tmp_path / "sums.py").write_text(SUMS)
    ref = record([call("multiply", a=17, b=23)], [text("So it is.")])
    return [ref, "--tools", str(tmp_path / "sums.py")]


def test_a_yes_runs_it_and_asks_again_the_next_time(asked: list[str]) -> None:
    for _ in range(2):
        with terminal(*asked, "17 times 23?") as screen:
            screen.until(QUESTION)
            assert 'run multiply of sums: {"a":17,"b":23}' in screen.seen
            screen.types("y\n")
            assert screen.ends() == 0
            assert "← 391" in screen.seen
            assert screen.seen.endswith("So it is.\n")


@pytest.mark.parametrize("keys", ["n\n", "\n", "what?\n", "\x04"])
def test_anything_but_a_yes_is_a_no(keys: str, asked: list[str]) -> None:
    with terminal(*asked, "17 times 23?") as screen:
        screen.until(QUESTION)
        screen.types(keys)
        assert screen.ends() == 0
        assert "the user didn't allow this call" in screen.seen


def test_always_holds_from_now_on(asked: list[str]) -> None:
    with terminal(*asked, "17 times 23?") as screen:
        screen.until(QUESTION)
        screen.types("always\n")
        assert screen.ends() == 0
    with terminal(*asked, "17 times 23?") as screen:
        assert screen.ends() == 0
        assert QUESTION not in screen.seen
        assert "← 391" in screen.seen


def test_whoever_pipes_the_question_is_asked_all_the_same(asked: list[str]) -> None:
    with terminal(*asked, given=b"17 times 23?") as screen:
        screen.until(QUESTION)
        screen.types("y\n")
        assert screen.ends() == 0
        assert "← 391" in screen.seen


def test_ctrl_c_at_the_question_ends_it(asked: list[str]) -> None:
    with terminal(*asked, "17 times 23?") as screen:
        screen.until(QUESTION)
        screen.types("\x03")
        assert screen.ends() == 130
        assert "391" not in screen.seen
        assert "Traceback" not in screen.seen


def test_a_model_of_the_settings_that_may_cost_money_is_asked_about(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = record([text("Hello.")], name="free")
    monkeypatch.setenv("CALLGATE_MODELS_FALLBACK", f"https://api.example.com/v1#gpt,{free}")
    with terminal(record([error("Unreachable", "nobody listens")]), "hi") as screen:
        screen.until("may cost money (y/n) ")
        screen.types("n\n")
        assert screen.ends() == 0
        assert screen.seen.endswith("Hello.\n")


@pytest.mark.engine
def test_the_model_in_the_box_asks_for_a_function_and_the_user_allows_it(require_engine: None, tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(SUMS)
    words = ["tiny", "What is 17 times 23?", "--tools", str(tmp_path / "sums.py"), "--option", "temperature=0"]
    with terminal(*words) as screen:
        screen.until(QUESTION)
        screen.types("y\n")
        assert screen.ends() == 0
        assert "← 391" in screen.seen
        assert "391" in screen.seen.rpartition("← 391")[2]
