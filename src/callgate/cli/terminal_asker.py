"""Asks on the terminal: may this tool be run, may this model be asked?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from callgate.cli.screen import Screen, printable
from callgate.runtime import Question, Reply, in_own_thread
from callgate.vocabulary import ModelRef

LONGEST_REPLY = 4096
_REPLIES: dict[str, Reply] = {"y": "yes", "yes": "yes", "a": "always", "always": "always"}


class TerminalAsker:
    """Whoever sits there is asked; the end of input, or anything but a yes, is a no."""

    def __init__(self, keyboard: int, before: Callable[[], None]) -> None:
        """`before` makes room on the screen."""
        self._keyboard = keyboard
        self._before = before
        self._screen = Screen(sys.stderr)

    @classmethod
    def if_there(cls, before: Callable[[], None]) -> TerminalAsker | None:
        """`None` where there is no terminal, to write on and to read from."""
        if not sys.stderr.isatty():
            return None
        if sys.stdin and sys.stdin.isatty():
            return cls(sys.stdin.fileno(), before)
        if sys.platform == "win32":
            return None
        try:  # the question came through a pipe, but somebody sits there all the same
            return cls(os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC), before)
        except OSError:
            return None

    async def may_run(self, question: Question) -> Reply:
        entry = question.entry
        strong = self._screen.styled(printable(entry.own_name), "strong")
        self._before()
        self._screen.line(f"run {strong} of {printable(entry.source)}: {printable(question.arguments)}")
        return _REPLIES.get(await self._reply("allow? (y/n/always) "), "no")

    async def may_be_asked(self, ref: ModelRef) -> bool:
        self._before()
        words = f"{printable(ref.name)} takes over? it runs on another machine, and may cost money (y/n) "
        return await self._reply(words) in ("y", "yes")

    async def _reply(self, words: str) -> str:
        _forget_what_was_typed(self._keyboard)
        print(words, end="", file=sys.stderr, flush=True)
        # Not through sys.stdin, which a thread that is left behind would hold locked while Python ends.
        try:
            typed = await in_own_thread(lambda: os.read(self._keyboard, LONGEST_REPLY), name="callgate-reply")
        except OSError:
            typed = b""
        if not typed.endswith(b"\n"):
            print(file=sys.stderr)
        return typed.decode("utf-8", "replace").strip().lower()


def _forget_what_was_typed(keyboard: int) -> None:
    """What was typed before the question isn't its answer."""
    try:
        import termios
    except ImportError:
        return
    try:
        termios.tcflush(keyboard, termios.TCIFLUSH)
    except termios.error:
        return
