"""Where a value ends that is still arriving: JSON or nearly, Python's literals, and what has quotes of its own."""

from __future__ import annotations

import re

from callgate.gate.recovery.source import Reading, Source

DEEPEST = 200
"""Levels of brackets; no tool has more."""

_CLOSING = {"{": "}", "[": "]", "(": ")"}
_AFTER_STRING = ",:)]}"
_BEFORE_STRING = "{[(,:="
_STRING = {quote: re.compile(rf"[^{quote}\\]*") for quote in "\"'"}


def read_value(
    source: Source, *, quotes: tuple[str, ...] = (), brackets: str = "{[", loose: bool = False
) -> Reading[str]:
    """Passes one bracketed value and gives its text, with what is missing at the end missing; "" where none begins.

    `quotes` are marks that stand around texts instead of quotes, each the same on both sides. `loose`: a quote ends a
    string only if something follows that can follow one, for some models don't escape the quotes inside.
    Outside of strings a `<` means that the value was broken off.
    """
    first = yield from source.skip_blank()
    if not first or first not in brackets:
        return ""
    parts: list[str] = []
    expected: list[str] = []
    last = ""
    while True:
        char = yield from source.ahead(1)
        if not char:
            return "".join(parts)
        if quotes and char == quotes[0][0]:
            mark = yield from _mark(source, quotes)
            if mark:
                parts.append(mark)
                parts.append((yield from _marked(source, mark)))
                last = '"'
                continue
        if char == "<":
            return "".join(parts)
        source.at += 1
        parts.append(char)
        if char in _CLOSING and (char != "(" or "(" in brackets or loose):
            expected.append(_CLOSING[char])
            if len(expected) > DEEPEST:
                return ""
        elif char in "}])":
            if expected and char == expected[-1]:
                expected.pop()
                if not expected:
                    return "".join(parts)
            elif char != ")" and char in expected:  # a bracket before it is missing
                while expected.pop() != char:
                    pass
                if not expected:
                    return "".join(parts)
        elif char == '"' or (char == "'" and last in _BEFORE_STRING):
            parts.append((yield from _string(source, char, loose=loose)))
        if not char.isspace():
            last = char
        plain = _PLAIN.match(source.text, source.at)
        if plain and plain.end() > source.at:
            parts.append(plain.group())
            source.at = plain.end()
            if stripped := plain.group().rstrip():
                last = stripped[-1]


_PLAIN = re.compile(r"[^{}\[\]()\"'<]*")


def _mark(source: Source, quotes: tuple[str, ...]) -> Reading[str]:
    for quote in quotes:
        ahead = yield from source.ahead(len(quote))
        if ahead == quote:
            source.at += len(quote)
            return quote
    return ""


def _marked(source: Source, mark: str) -> Reading[str]:
    from callgate.gate.recovery.source import finder

    text, found = yield from source.until(finder(mark))
    return text + found


def _string(source: Source, quote: str, *, loose: bool) -> Reading[str]:
    """The rest of a string, with its closing quote."""
    parts: list[str] = []
    inside = _STRING[quote]
    while True:
        match = inside.match(source.text, source.at)
        if match:
            parts.append(match.group())
            source.at = match.end()
        char = yield from source.ahead(1)
        if not char:
            return "".join(parts)
        if char == "\\":
            parts.append((yield from source.ahead(2)))
            source.at += len(parts[-1])
        elif char == quote:
            source.at += 1
            parts.append(char)
            if not loose:
                return "".join(parts)
            blank, after = yield from _what_follows(source)
            parts.append(blank)
            if not after or after in _AFTER_STRING:
                return "".join(parts)


def _what_follows(source: Source) -> Reading[tuple[str, str]]:
    """The white space that follows, passed, and the character behind it."""
    blank = yield from source.while_in(_SPACES)
    return blank, (yield from source.ahead(1))


_SPACES = re.compile(r"\s*")
