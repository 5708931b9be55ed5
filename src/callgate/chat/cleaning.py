"""Makes strangers' texts harmless: what models, tools and files say never tells the terminal what to do."""

from __future__ import annotations

import re
from unicodedata import category

LONGEST_SEQUENCE = 256
"""Characters of a sequence that doesn't end; what comes after them is text again."""
_HARMLESS = "\n\t\u200c\u200d"
"""The last two are invisible, and part of words and pictures in many scripts."""
_LINES = {0x2028: "\n", 0x2029: "\n"}
_ESCAPES = re.compile(r"[\x1b\x80-\x9f]")
_STRINGS = {
    "]": "\x07",
    "P": "",
    "X": "",
    "^": "",
    "_": "",
    "\x9d": "\x07",
    "\x90": "",
    "\x98": "",
    "\x9e": "",
    "\x9f": "",
}
"""What begins a sequence with a text in it, and what ends it besides ST."""
_CSI = ("[", "\x9b")
_COLOUR = re.compile(r"(\x1b\[[0-9;]{0,60}m)")


class Cleaner:
    """For a text that comes in pieces: a sequence that is cut in two is still one."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        text, self._held = self._held + text, ""
        if text.isprintable():
            return text
        parts: list[str] = []
        at = 0
        while match := _ESCAPES.search(text, at):
            parts.append(text[at : match.start()])
            end = _end_of(text, match.start())
            if end is None:
                self._held = text[match.start() :]
                at = len(text)
                break
            at = end
        parts.append(text[at:])
        return "".join(map(_without_controls, parts))

    def close(self) -> str:
        """What was held back, since it might have become a sequence."""
        held, self._held = self._held, ""
        return _without_controls(held[1:])


def cleaned(text: str) -> str:
    """`text` with its lines and tabs, and nothing else that a terminal would obey."""
    if text.isprintable():
        return text
    cleaner = Cleaner()
    return cleaner.feed(text) + cleaner.close()


def with_colours(text: str) -> str:
    """The same for what was drawn here: its colours stay."""
    parts = _COLOUR.split(text)
    return "".join(part if place % 2 else cleaned(part) for place, part in enumerate(parts))


def on_one_line(text: str) -> str:
    return " ".join(cleaned(text).split())


def _without_controls(text: str) -> str:
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").translate(_LINES)
    return "".join(letter for letter in text if letter.isprintable() or letter in _HARMLESS or category(letter) == "Zs")


def _end_of(text: str, start: int) -> int | None:
    """Where the sequence that begins at `start` is over; `None` if that isn't known yet."""
    first = text[start]
    at = start + 1
    if first == "\x1b":
        if at >= len(text):
            return None
        first = text[at]
        at += 1
    if first in _CSI:
        return _end_of_csi(text, at)
    if first in _STRINGS:
        return _end_of_string(text, at, _STRINGS[first])
    return at if first > " " or first == "\x1b" else at - 1


def _end_of_csi(text: str, at: int) -> int | None:
    most = min(len(text), at + LONGEST_SEQUENCE)
    while at < most:
        letter = text[at]
        if "@" <= letter <= "~":
            return at + 1
        if not " " <= letter <= "?":
            return at  # it is none
        at += 1
    return None if most == len(text) else at


def _end_of_string(text: str, at: int, bell: str) -> int | None:
    most = min(len(text), at + LONGEST_SEQUENCE)
    while at < most:
        letter = text[at]
        if letter in ("\x9c", bell):
            return at + 1
        if letter == "\x1b":
            if at + 1 == len(text):
                return None
            return at + 2 if text[at + 1] == "\\" else at
        if letter == "\n":
            return at
        at += 1
    return None if most == len(text) else at
