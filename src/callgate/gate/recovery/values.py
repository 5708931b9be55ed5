"""Where a value ends that is still arriving: JSON or nearly, Python's literals, and what has quotes of its own."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from callgate.gate.recovery.finders import finder
from callgate.gate.recovery.source import Reading, Source

DEEPEST = 200
"""Levels of brackets; no tool has more."""
LONGEST_KEY = 32
"""Of those that a call has."""

_CLOSING = {"{": "}", "[": "]", "(": ")"}
_SQUARE_CLOSING = {"{": "}", "[": "]"}
_OUTERMOST = (["}"], ["]", "}"])
"""What is open within an object, and within each of several in an array."""
_QUOTES = "\"'"
_AFTER_STRING = ",:)]}"
_BEFORE_STRING = "{[(,:="
_STRING = {quote: re.compile(rf"[{quote}\\]") for quote in _QUOTES}
_NOTABLE = re.compile(r"[{}\[\]()\"'<]")
_SPACES = re.compile(r"\s*")


def read_value(
    source: Source, *, quotes: tuple[str, ...] = (), brackets: str = "{[", loose: bool = False
) -> Reading[str]:
    """Passes one bracketed value and gives its text, with what is missing at the end missing; "" where none begins.

    `quotes` are marks that stand around texts instead of quotes, each the same on both sides, beginning with a `<`.
    Any other `<` outside of strings means that the value was broken off. `loose`: see `Scan`.
    """
    first = yield from source.skip_blank()
    if not first or first not in brackets:
        return ""
    before = source.held()
    scan = Scan(loose=loose, rounds=loose or "(" in brackets)
    yield from scan_value(source, scan, quotes)
    return "" if scan.over and scan.open else source.raw(before)


def scan_value(source: Source, scan: Scan, quotes: tuple[str, ...] = ()) -> Reading[None]:
    """Passes what belongs to the value."""
    while True:
        at = source.at
        source.at = scan.run(source.text, at)
        source.steps += source.at - at
        if scan.over:
            return
        if source.at < len(source.text):
            mark = yield from _mark(source, quotes)
            if not mark:
                return
            yield from source.until(finder(mark))
            scan.last = '"'
        elif source.ended:
            return
        else:
            source.scan = scan
            yield


class Scan:
    """Finds the end of a value that comes in pieces, and remembers no more of it than what is still open.

    `loose`: a quote ends a string only if something follows that can follow one, for some models don't escape the
    quotes inside. `rounds`: whether round brackets count. `keys`: those that an object may have, or each of several in
    an array; behind any other the value is over.
    """

    __slots__ = (
        "_closing",
        "_escaped",
        "_key",
        "_keys",
        "_loose",
        "_quote",
        "_quoted",
        "last",
        "open",
        "over",
    )

    def __init__(self, *, loose: bool = False, rounds: bool = False, keys: AbstractSet[str] | None = None) -> None:
        self.open: list[str] = []
        """What closes the brackets that are open."""
        self.over = False
        """Whether the value has ended, or is none that anybody wants."""
        self.last = ""
        """The last character outside of strings that isn't white space."""
        self._loose = loose
        self._closing = _CLOSING if rounds else _SQUARE_CLOSING
        self._keys = keys
        self._key: str | None = None
        """What has come of the key that is open."""
        self._quote = ""
        """Of the string that is open."""
        self._escaped = False
        """Whether a backslash came last."""
        self._quoted = False
        """Whether a quote came that ends the string, or not, as the next character will tell."""

    def run(self, text: str, at: int) -> int:
        """Reads on from `at`; gives how far it came: to the end of the text, of the value, or to a `<`."""
        end = len(text)
        while at < end and not self.over:
            if self._quote:
                at = self._string(text, at) if self._key is None else self._in_key(text, at, self._key)
                continue
            found = _NOTABLE.search(text, at)
            if found is None:
                self._remember(text[at:])
                return end
            start = found.start()
            char = text[start]
            if char == "<":
                self._remember(text[at:start])
                return start
            if char in self._closing:
                self.open.append(self._closing[char])
                self.over = len(self.open) > DEEPEST
            elif char in "}])":
                self._close(char)
            elif char in _QUOTES:
                self._remember(text[at:start])
                if char == '"' or self.last in _BEFORE_STRING:
                    self._quote = char
                    if self._keys is not None and self.last in "{," and self.open in _OUTERMOST:
                        self._key = ""
            self.last = char
            at = start + 1
        return at

    def _remember(self, passed: str) -> None:
        if stripped := passed.rstrip():
            self.last = stripped[-1]

    def _close(self, char: str) -> None:
        if self.open and char == self.open[-1]:
            self.open.pop()
        elif char != ")" and char in self.open:  # a bracket before it is missing
            while self.open.pop() != char:
                pass
        self.over = not self.open

    def _string(self, text: str, at: int) -> int:
        """The same within a string."""
        if self._escaped:
            self._escaped = False
            return at + 1
        if self._quoted:
            blank = _SPACES.match(text, at)
            at = blank.end() if blank else at
            if at < len(text):
                self._quoted = False
                self._quote = "" if text[at] in _AFTER_STRING else self._quote
            return at
        found = _STRING[self._quote].search(text, at)
        if found is None:
            return len(text)
        if found.group() == "\\":
            self._escaped = True
        elif self._loose:
            self._quoted = True
        else:
            self._quote = ""
        return found.end()

    def _in_key(self, text: str, at: int, key: str) -> int:
        """The same within a key, which is judged as soon as it ends, or is too long."""
        room = at + LONGEST_KEY + 1 - len(key)
        found = _STRING[self._quote].search(text, at, room)
        end = min(len(text), room) if found is None else found.start()
        key += text[at:end]
        if found is None and len(key) <= LONGEST_KEY:
            self._key = key
            return end
        self._key = None
        if found is None or found.group() == self._quote:
            self._quote = ""
            self.over = self._keys is not None and key not in self._keys
        else:  # an escape, and so nothing that can be told here
            self._escaped = True
        return end if found is None else found.end()


def _mark(source: Source, quotes: tuple[str, ...]) -> Reading[str]:
    for quote in quotes:
        ahead = yield from source.ahead(len(quote))
        if ahead == quote:
            source.at += len(quote)
            return quote
    return ""
