"""Where a JSON value ends that is still arriving: each character is looked at once, wherever the chunks are cut."""

from __future__ import annotations

import re

_OPENERS, _CLOSERS = "{[", "}]"
_QUOTES = "\"'"
_BEFORE_VALUE = "{[,:("
"""An apostrophe opens a string only behind one of these; elsewhere it is an apostrophe."""
_INSIDE = {quote: re.compile(rf"[^\\{quote}]*") for quote in _QUOTES}
_DULL = re.compile(r"[^\s{}\[\]\"',:(]*")
_SPACE = re.compile(r"\s*")


class ValueScan:
    """Finds the end of one value, JSON or nearly. Feed it the text from the value's first character on."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._escaped = False
        self._last = ""
        self._started = False

    def feed(self, text: str) -> int | None:
        """How much of `text` still belongs to the value; None if all of it does, and more is to come."""
        at = 0
        while at < len(text):
            if self._quote:
                at = self._in_string(text, at)
                if not self._quote and not self._depth:
                    return at
                continue
            here = text[at]
            if here in _OPENERS:
                if self._started and not self._depth:
                    return at
                self._depth += 1
            elif here in _CLOSERS:
                if not self._depth:
                    return at
                self._depth -= 1
                if not self._depth:
                    return at + 1
            elif here == '"' or (here == "'" and (not self._last or self._last in _BEFORE_VALUE)):
                if self._started and not self._depth:
                    return at
                self._quote = here
            elif here.isspace():
                if self._started and not self._depth:
                    return at
                found = _SPACE.match(text, at)
                at = found.end() if found else at + 1
                continue
            elif here == "," and not self._depth:
                return at
            else:
                found = _DULL.match(text, at + 1)
                self._started, self._last = True, here if here in _BEFORE_VALUE else "x"
                at = found.end() if found else at + 1
                if found and found.end() > found.start():
                    self._last = "x"
                continue
            self._started, self._last = True, here
            at += 1
        return None

    def _in_string(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _INSIDE[self._quote].match(text, at)
        at = found.end() if found else at
        if at >= len(text):
            return at
        self._escaped = text[at] == "\\"
        if not self._escaped:
            self._quote, self._last = "", self._quote
        return at + 1


def scan_value(text: str, start: int = 0) -> int | None:
    """Where the JSON value, or nearly JSON, that starts at `start` ends; None if it isn't finished.

    A number or a word is finished only when something follows it.
    """
    end = ValueScan().feed(text[start:] if start else text)
    return None if end is None else start + end
