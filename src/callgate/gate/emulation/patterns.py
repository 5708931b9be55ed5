"""A schema's `pattern`, read as an expression that a grammar can hold.

What is read is made stricter where need be, never looser: an expression that would match anywhere in a text has to
match all of it, and what repeats without an end repeats a few times. What a grammar has no words for isn't read.
"""

from __future__ import annotations

from collections.abc import Iterable

from callgate.gate.emulation.expressions import MOST_REPEATS, Characters, Either, Expression, Ranges, Repeated, Sequel

LONGEST_PATTERN = 500
DEEPEST = 20
_LAST_CHARACTER = 0xFFFF
"""What lies beyond isn't written alike by all engines."""
_DIGITS: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = ((32, 32),)
_SAFE: Ranges = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0xA0, 0xD7FF), (0xE000, _LAST_CHARACTER))
"""Characters that stand for themselves in JSON. The others would need escapes, which engines don't treat alike."""
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "0": 0}


class Unreadable(Exception):
    """No expression that a grammar could hold."""


def read_expression(pattern: str) -> Expression | None:
    """`None`, if it isn't one that a grammar can hold: with look-around, back references and the like."""
    if len(pattern) > LONGEST_PATTERN:
        return None
    try:
        return _Reader(pattern).all()
    except Unreadable:
        return None


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def all(self) -> Expression:
        found = self._either(0)
        if self._at < len(self._text):
            raise Unreadable
        return found

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _takes(self, token: str) -> bool:
        if self._text.startswith(token, self._at):
            self._at += len(token)
            return True
        return False

    def _either(self, depth: int) -> Expression:
        if depth > DEEPEST:
            raise Unreadable
        options = [self._sequel(depth)]
        while self._takes("|"):
            options.append(self._sequel(depth))
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _sequel(self, depth: int) -> Expression:
        parts: list[Expression] = []
        if depth == 0:
            self._takes("^")
        while (char := self._next()) and char not in "|)":
            if depth == 0 and char == "$" and self._text[self._at + 1 : self._at + 2] in ("", "|"):
                self._at += 1
                break
            parts.append(self._repeated(self._one(depth)))
        return parts[0] if len(parts) == 1 else Sequel(tuple(parts))

    def _one(self, depth: int) -> Expression:
        if self._takes("("):
            if self._takes("?") and not self._takes(":"):
                raise Unreadable
            inner = self._either(depth + 1)
            if not self._takes(")"):
                raise Unreadable
            return inner
        if self._takes("["):
            return _characters(self._set())
        if self._takes("."):
            return Characters(_SAFE)
        char = self._next()
        if not char or char in "^$*+?{}":
            raise Unreadable
        return _characters(self._character())

    def _character(self) -> Ranges:
        if not self._takes("\\"):
            code = ord(self._next())
            self._at += 1
            return ((code, code),)
        escaped = self._next()
        self._at += 1
        if escaped in "xu" and escaped:
            digits = self._text[self._at : self._at + (2 if escaped == "x" else 4)]
            self._at += len(digits)
            try:
                code = int(digits, 16)
            except ValueError:
                raise Unreadable from None
            return ((code, code),)
        if escaped.lower() in _CLASSES:
            ranges = _CLASSES[escaped.lower()]
            return ranges if escaped.islower() else _complement(ranges)
        if escaped in _CONTROLS and escaped:
            return ((_CONTROLS[escaped],) * 2,)
        if not escaped or escaped.isalnum():
            raise Unreadable
        return ((ord(escaped), ord(escaped)),)

    def _set(self) -> Ranges:
        negated = self._takes("^")
        found: list[tuple[int, int]] = []
        first = True
        while first or self._next() != "]":
            if not self._next():
                raise Unreadable
            first = False
            low = self._character()
            if self._next() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                high = self._character()
                if len(low) > 1 or len(high) > 1 or low[0][0] > high[0][1]:
                    raise Unreadable
                low = ((low[0][0], high[0][1]),)
            found += low
        self._at += 1
        return _complement(tuple(found)) if negated else tuple(found)

    def _repeated(self, part: Expression) -> Expression:
        if self._takes("*"):
            fewest, most = 0, None
        elif self._takes("+"):
            fewest, most = 1, None
        elif self._takes("?"):
            fewest, most = 0, 1
        elif self._takes("{"):
            fewest, most = self._counts()
        else:
            return part
        self._takes("?")  # a lazy one matches the same texts
        if self._next() in ("*", "+", "{") and self._next():
            raise Unreadable
        return Repeated(part, fewest, most)

    def _counts(self) -> tuple[int, int | None]:
        inside, closed, _ = self._text[self._at :].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not low.isdecimal() or not (high.isdecimal() or not high):
            raise Unreadable
        self._at += len(inside) + 1
        fewest = int(low)
        most = fewest if not comma else int(high) if high else None
        if fewest > MOST_REPEATS or (most is not None and most < fewest):
            raise Unreadable
        return fewest, most


def _characters(ranges: Ranges) -> Characters:
    """Raises: Unreadable, if none of them can stand in JSON for itself."""
    left = _common(_ordered(ranges), _SAFE)
    if not left:
        raise Unreadable
    return Characters(left)


def _ordered(ranges: Iterable[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: Ranges) -> Ranges:
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in _ordered(ranges):
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST_CHARACTER:
        found.append((start, _LAST_CHARACTER))
    return tuple(found)


def _common(some: Ranges, others: Ranges) -> Ranges:
    both = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return tuple((low, high) for low, high in both if low <= high)
