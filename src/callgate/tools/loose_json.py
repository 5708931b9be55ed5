"""JSON as models write it: single quotes, trailing commas, Python's literals, comments, missing brackets.

It is mended only where it can be read in one way. A text, a key or a number that just ends may have gone on, and a
key that is there twice with two values says two things: neither has a reading. Time is linear, depth is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from callgate.tools.loose_strings import NoReading, StringReader, whole_characters
from callgate.tools.loose_words import key_of, value_of

DEEPEST = 200
"""Levels of brackets; what validates these values copes with little more."""
LONGEST_MENDED = 1_000_000
"""Characters. Longer texts must be JSON as they are: mending them would take seconds."""

_OPENERS = {"{": "}", "[": "]"}
_FENCE = re.compile(r"\A\s*```[a-zA-Z0-9]*[^\S\n]*\n(.*?)```\s*\Z", re.DOTALL)
_BLANK = re.compile(r"[\s\ufeff]*")
_STRAY = re.compile(r"[\s}\]]*\Z")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/")
_QUOTES = frozenset("\"'`“‘")
_BEHIND_KEY = re.compile(r'"\s*:')
_OPENED = object()


class Loose(msgspec.Struct, frozen=True):
    """What a text says, and what had to be overlooked for it to say that; nothing, if it is JSON."""

    value: Any
    rules: tuple[str, ...] = ()


def read_loosely(text: str, *, cut: bool = True) -> Loose | None:
    """The one value that `text` can mean; None where there is none, or more than one.

    `cut` says whether brackets may be missing at the end.
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return _mended(text, cut=cut) if len(text) <= LONGEST_MENDED else None
    except RecursionError:
        return None
    if not isinstance(value, dict | list) or _is_plain(text, value):
        return Loose(value)
    return None


def malformed(flaws: Iterable[str]) -> str:
    """What a mending is called in a report."""
    return f"malformed-json: {', '.join(dict.fromkeys(flaws))}"


def depth_of(value: object, limit: int = DEEPEST) -> int:
    """How many levels of containers `value` has; `limit` + 1, if it has more than that."""
    level, depth = [value], 0
    while depth <= limit and (level := [item for item in level if isinstance(item, dict | list)]):
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _mended(text: str, *, cut: bool) -> Loose | None:
    reader = _Reader(text, cut=cut)
    try:
        value = reader.read()
    except NoReading:
        return None
    return Loose(value, tuple(sorted(reader.rules)) or ("white-space",))


def _is_plain(text: str, value: dict[str, Any] | list[Any]) -> bool:
    """Whether this value of valid JSON isn't too deep, and no key has two values in it."""
    if text.count("{") + text.count("[") > DEEPEST and depth_of(value) > DEEPEST:
        return False
    keys = _keys(value)
    if keys in (text.count(":"), len(_BEHIND_KEY.findall(text))):
        return True
    import json

    try:
        json.loads(text, object_pairs_hook=_without_contradiction)
    except NoReading:
        return False
    return True


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs) and not all(_same(found[key], value) for key, value in pairs):
        raise NoReading
    return found


def _keys(value: dict[str, Any] | list[Any]) -> int:
    found, items = (len(value), value.values()) if isinstance(value, dict) else (0, value)
    for item in items:
        if isinstance(item, dict | list):
            found += _keys(item)
    return found


class _Reader:
    """One pass over a text, with the containers that are open kept in a list instead of on the call stack."""

    def __init__(self, text: str, *, cut: bool) -> None:
        self.rules: set[str] = set()
        text = whole_characters(text, self.rules)
        if fenced := _FENCE.match(text):
            text = fenced[1]
            self.rules.add("code-fence")
        self.text = text
        self.at = 0
        self.cut = cut
        self.strings = StringReader(text, self.rules)
        self.open: list[dict[str, Any] | list[Any]] = []
        self.keys: list[str] = []
        self.closers = {"}": 0, "]": 0}

    def read(self) -> object:
        self._skip()
        value = self._value()
        while self.open:
            if value is not _OPENED:
                self._put(value)
            value = self._next()
        self._skip()
        if self.at < len(self.text):
            if not isinstance(value, dict | list) or not _STRAY.match(self.text, self.at):
                raise NoReading
            self.rules.add("stray-bracket")
        return value

    def _put(self, value: object) -> None:
        top = self.open[-1]
        if isinstance(top, list):
            top.append(value)
            return
        key = self.keys[-1]
        if key in top and not _same(top[key], value):
            raise NoReading
        top[key] = value

    def _next(self) -> object:
        """What comes next in the innermost container: a value, a container that opens, or that container itself."""
        top = self.open[-1]
        self._skip()
        if top and not self._ends():
            if self.text[self.at] == ",":
                self.at += 1
                self._skip()
                if self._ends():
                    self.rules.add("trailing-comma")
            else:
                self._expect_missing_comma()
        if self._ends():
            return self._close()
        if isinstance(top, dict):
            self.keys[-1] = self._key()
        return self._value()

    def _ends(self) -> bool:
        return self.at >= len(self.text) or self.text[self.at] in self.closers

    def _expect_missing_comma(self) -> None:
        top, here = self.open[-1], self.text[self.at]
        if here in _QUOTES if isinstance(top, dict) else here in _OPENERS and isinstance(top[-1], dict | list):
            self.rules.add("missing-comma")
        else:
            raise NoReading

    def _close(self) -> object:
        top = self.open.pop()
        self.keys.pop()
        closer = "}" if isinstance(top, dict) else "]"
        self.closers[closer] -= 1
        if self.at >= len(self.text):
            if not self.cut or not top:  # nothing tells whether it was to stay empty
                raise NoReading
            self.rules.add("missing-bracket")
        elif self.text[self.at] == closer:
            self.at += 1
        elif self.closers[self.text[self.at]]:  # it closes something further out
            self.rules.add("missing-bracket")
        else:
            raise NoReading
        return top

    def _key(self) -> str:
        if self.text[self.at] in _QUOTES:
            key, self.at = self.strings.key(self.at)
        else:
            key, self.at = key_of(self.text, self.at)
            self.rules.add("unquoted-key")
        self._skip()
        if not self.text.startswith(":", self.at):
            raise NoReading
        self.at += 1
        self._skip()
        return key

    def _value(self) -> object:
        if self.at >= len(self.text):
            raise NoReading
        first = self.text[self.at]
        if first in _OPENERS:
            if len(self.open) >= DEEPEST:
                raise NoReading
            self.open.append({} if first == "{" else [])
            self.keys.append("")
            self.closers[_OPENERS[first]] += 1
            self.at += 1
            return _OPENED
        if first in _QUOTES:
            inside_object = bool(self.open) and isinstance(self.open[-1], dict)
            value: object
            value, self.at = self.strings.value(self.at, inside_object=inside_object)
            return value
        value, self.at = value_of(self.text, self.at, self.rules, cut=self.cut, inside=bool(self.open))
        return value

    def _skip(self) -> None:
        """Over white space and comments."""
        while True:
            blank = _BLANK.match(self.text, self.at)
            self.at = blank.end() if blank else self.at
            if self.at >= len(self.text) or self.text[self.at] not in "/#":
                return
            comment = _COMMENT.match(self.text, self.at)
            if not comment:
                raise NoReading
            self.rules.add("comment")
            self.at = comment.end()


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
