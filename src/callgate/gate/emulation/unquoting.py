"""JSON that is still being written: where a value ends, and what a text says so far."""

from __future__ import annotations

import re

_MARKS = re.compile(r'["\\{}\[\]]')
_IN_TEXT = re.compile(r'["\\]')
_AFTER_SCALAR = re.compile(r"[\s,}\]]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_REPLACEMENT = "\ufffd"


class ValueEnd:
    """Finds the end of one JSON value, however its text is cut. It has to start with the value's first character."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_text = False
        self._escaped = False
        self._scalar: bool | None = None

    def find(self, text: str, start: int = 0) -> int | None:
        """The index behind the value, if it ends in `text`; all of what comes before `start` was already seen."""
        if start >= len(text):
            return None
        if self._scalar is None:
            self._scalar = text[start] not in '"{['
        if self._scalar:
            end = _AFTER_SCALAR.search(text, start)
            return end.start() if end else None
        return self._structure(text, start)

    def _structure(self, text: str, at: int) -> int | None:
        if self._escaped:
            self._escaped = False
            at += 1
        while mark := (_IN_TEXT if self._in_text else _MARKS).search(text, at):
            at = mark.end()
            char = mark.group()
            if char == '"':
                self._in_text = not self._in_text
            elif char == "\\":
                if at >= len(text):
                    self._escaped = True
                    return None
                at += 1
                continue
            elif char in "{[":
                self._depth += 1
            else:
                self._depth -= 1
            if self._depth <= 0 and not self._in_text:
                return at
        return None


class Unquoted:
    """Reads a JSON text from behind its opening quote, however it is cut."""

    def __init__(self) -> None:
        self._kept = ""
        self.is_whole = False
        self.length = 0
        """In characters as they are written: an escape is one."""

    def read(self, text: str) -> tuple[str, str]:
        """What it says, as far as that is sure; and what comes behind the closing quote."""
        text, self._kept = self._kept + text, ""
        said: list[str] = []
        at = 0
        while mark := _IN_TEXT.search(text, at):
            said.append(text[at : mark.start()])
            self.length += mark.start() - at
            if mark.group() == '"':
                self.is_whole = True
                return "".join(said), text[mark.end() :]
            escape = _escape(text, mark.start())
            if escape is None:
                self._kept = text[mark.start() :]
                return "".join(said), ""
            meant, at = escape
            said.append(meant)
            self.length += 1
        said.append(text[at:])
        self.length += len(text) - at
        return "".join(said), ""

    def rest(self) -> str:
        """What an escape that was cut off says."""
        kept, self._kept = self._kept, ""
        return _REPLACEMENT if kept.startswith("\\u") and len(kept) >= 6 else ""


def _escape(text: str, at: int) -> tuple[str, int] | None:
    """What the escape at `at` means, and where it ends; `None`, if it is cut."""
    letter = text[at + 1 : at + 2]
    if not letter:
        return None
    if letter != "u":
        return _ESCAPES.get(letter, letter), at + 2
    if len(text) < at + 6:
        return None
    code = _hexadecimal(text[at + 2 : at + 6])
    if code is None:
        return _REPLACEMENT, at + 2
    if 0xDC00 <= code < 0xE000:
        return _REPLACEMENT, at + 6
    if not 0xD800 <= code < 0xDC00:
        return chr(code), at + 6
    following = text[at + 6 : at + 12]
    if not "\\u".startswith(following[:2]):
        return _REPLACEMENT, at + 6
    if len(following) < 6:
        return None
    low = _hexadecimal(following[2:])
    if low is None or not 0xDC00 <= low < 0xE000:
        return _REPLACEMENT, at + 6
    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), at + 12


def _hexadecimal(digits: str) -> int | None:
    return int(digits, 16) if re.fullmatch("[0-9a-fA-F]{4}", digits) else None
