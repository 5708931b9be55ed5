"""Strings of malformed JSON: which quote ends one, and what an escape means."""

from __future__ import annotations

import re

_CLOSERS = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}
_PLAIN = {mark: re.compile(rf"[^\\{closer}\x00-\x1f]*") for mark, closer in _CLOSERS.items()}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'", "`": "`"}
_FOUR_DIGITS = re.compile(r"[0-9a-fA-F]{4}")
_PYTHON = {"x": re.compile(r"[0-9a-fA-F]{2}"), "U": re.compile(r"000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4}")}
_COLON = re.compile(r"\s*:")
_END = re.compile(r"\s*(?:[}\]]|\Z|//|#|/\*)")
_COMMA = re.compile(r"\s*,")
_NEXT_KEY = re.compile(r"""\s*(?:["'`“‘}\]]|\Z|//|#|/\*|[\w$-]{1,64}\s*:)""")
_KEY_WITHOUT_COMMA = re.compile(r"""\s*["'`“‘][^"'`”’\\\n]{0,64}["'`”’]\s*:""")
_ANOTHER_QUOTE = re.compile(r"""\s*["'`“‘]""")


class NoReading(Exception):
    """There isn't one way to read it."""


def whole_characters(text: str, rules: set[str]) -> str:
    """`text` without halves of characters, which no JSON can carry."""
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    rules.add("half-character")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class StringReader:
    """Reads the strings of one text; `rules` gets what was overlooked."""

    def __init__(self, text: str, rules: set[str]) -> None:
        self._text = text
        self._rules = rules

    def key(self, at: int) -> tuple[str, int]:
        """The key that starts with the quote `at`, and where it ends."""
        mark = self._text[at]
        parts: list[str] = []
        at = self._noted(at + 1, mark)
        at = self._up_to_mark(at, mark, parts) + 1
        if not _COLON.match(self._text, at):
            raise NoReading
        return self._joined(parts), at

    def value(self, at: int, *, inside_object: bool) -> tuple[str, int]:
        """The value that starts with the quote `at`, and where it ends."""
        text, mark = self._text, self._text[at]
        if text.startswith(mark * 3, at) and mark in "\"'":
            return self._tripled(at + 3, mark)
        parts: list[str] = []
        unescaped = 0
        at = self._noted(at + 1, mark)
        while True:
            at = self._up_to_mark(at, mark, parts) + 1
            if self._closes(at, inside_object=inside_object):
                break
            if _ANOTHER_QUOTE.match(text, at):
                raise NoReading
            self._rules.add("unescaped-quote")
            unescaped += not (mark in "'‘" and text[at - 2].isalnum() and text[at : at + 1].isalnum())
            parts.append(text[at - 1])
        if unescaped % 2:
            raise NoReading
        return self._joined(parts), at

    def _noted(self, at: int, mark: str) -> int:
        if mark != '"':
            self._rules.add("typographic-quotes" if mark in "“‘" else "single-quotes" if mark == "'" else "backquotes")
        return at

    def _closes(self, at: int, *, inside_object: bool) -> bool:
        """Whether a quote that stands before `at` is the end of the string."""
        if _END.match(self._text, at):
            return True
        if comma := _COMMA.match(self._text, at):
            return not inside_object or bool(_NEXT_KEY.match(self._text, comma.end()))
        return inside_object and bool(_KEY_WITHOUT_COMMA.match(self._text, at))

    def _up_to_mark(self, at: int, mark: str, parts: list[str]) -> int:
        """Where the next closing quote is; what stands before it goes into `parts`."""
        text, plain = self._text, _PLAIN[mark]
        while True:
            found = plain.match(text, at)
            assert found
            parts.append(found[0])
            at = found.end()
            if at >= len(text):
                raise NoReading
            if text[at] == _CLOSERS[mark]:
                return at
            if text[at] == "\\":
                at = self._escape(at + 1, mark, parts)
            else:
                self._rules.add("control-character")
                parts.append(text[at])
                at += 1

    def _escape(self, at: int, mark: str, parts: list[str]) -> int:
        text = self._text
        letter = text[at : at + 1]
        if letter in _ESCAPES and letter:
            if letter in "'`":
                self._rules.add("escape")
            parts.append(_ESCAPES[letter])
            return at + 1
        if letter == "u" and (digits := _FOUR_DIGITS.match(text, at + 1)):
            parts.append(chr(int(digits[0], 16)))
            return at + 5
        self._rules.add("escape")
        if mark == "'" and letter in _PYTHON and (digits := _PYTHON[letter].match(text, at + 1)):
            parts.append(chr(int(digits[0], 16)))
            return digits.end()
        parts.append("\\")
        return at

    def _tripled(self, at: int, mark: str) -> tuple[str, int]:
        """A string of Python's that may run over many lines."""
        end = self._text.find(mark * 3, at)
        if end < 0 or "\\" in self._text[at:end]:
            raise NoReading
        self._rules.add("triple-quotes")
        return self._text[at:end], end + 3

    def _joined(self, parts: list[str]) -> str:
        return whole_characters("".join(parts), self._rules)
