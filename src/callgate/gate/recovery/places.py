"""Where a bare call may begin: at the start, at the beginning of a line, never within an expression or other data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from callgate.gate.recovery.finders import Guard, beginnings
from callgate.gate.recovery.said import CALL_KEYS

CODE_INDENT = 4
"""What begins a line behind so many spaces is code."""
MOST_BLANK = 64
"""Characters of white space between brackets, and before the first key."""

_IN_EXPRESSION = "=([{,+*/%&^~\\"
_QUOTES = "\"'"
_IN_DATA = frozenset("}]")
_IN_LINE = frozenset("}]\"'`_.-<>")

_BLANK = rf"\s{{0,{MOST_BLANK}}}+"
_KEY = "|".join(beginnings({key + quote for key in CALL_KEYS for quote in _QUOTES}))
_KEY_BEGINS = "|".join(sorted({key[:size] for key in CALL_KEYS for size in range(1, len(key) + 1)}, reverse=True))
_OBJECT = rf"{_BLANK}(?:[{_QUOTES}](?:{_KEY}|\Z)|\Z)"
_OBJECT_BEGINS = rf"\{{{_BLANK}(?:[{_QUOTES}](?:{_KEY_BEGINS})?)?"
_WORD = r"[^\W\d]"
LONGEST_BEGINNING = len("[") + MOST_BLANK + len("{") + MOST_BLANK + max(len(f'"{key}"') for key in CALL_KEYS)
"""Characters from a bracket on that may be needed to tell whether a call begins there."""


def may_begin(before: str, *, anywhere: bool) -> bool:
    """Whether a bare call may begin behind the text `before`."""
    words = before.rstrip()
    if not words:
        return True
    if len(words) == len(before):
        return False
    last = words[-1]
    if last in _IN_EXPRESSION or (last == ":" and words[:-1].rstrip()[-1:] in _QUOTES):
        return False
    *lines, indent = before[len(words) :].split("\n")
    if anywhere:
        return bool(lines) or last not in _IN_LINE
    return bool(lines) and last not in _IN_DATA and len(indent.expandtabs()) < CODE_INDENT


def guards(grammars: AbstractSet[str], marks: Iterable[str], *, anywhere: bool) -> dict[str, Guard]:
    """What tells a bracket that may begin a call from most that can't, by what stands around it.

    `marks`: tags that belong to nobody's words, and behind which a call may begin. Before a bracket, as many characters
    are looked at as are there, so that the less there are, the less is ruled out.
    """
    ends = frozenset(mark[-1] for mark in marks)
    json, pythonic = "json" in grammars, "pythonic" in grammars
    found = {"{": Guard(_behind("{", ends, anywhere) + rf"(?={_OBJECT})", re.compile(_OBJECT_BEGINS))} if json else {}
    if json or pythonic:
        inside = [rf"\{{{_OBJECT}"] * json + [_WORD] * pythonic + [r"\Z"]
        ahead = rf"(?={_BLANK}(?:{'|'.join(inside)}))"
        begins = rf"\[{_BLANK}(?:{_OBJECT_BEGINS})?" if json else rf"\[{_BLANK}"
        found["["] = Guard(_behind("[", ends, anywhere) + ahead, re.compile(begins))
    return found


def _behind(bracket: str, ends: AbstractSet[str], anywhere: bool) -> str:
    """Fails where `may_begin` says no, for white space of one character at most."""
    this = re.escape(bracket)
    words = rf"[^\s{_class(ends)}]"
    before_blank = frozenset(_IN_EXPRESSION) if anywhere else frozenset(_IN_EXPRESSION) | _IN_DATA
    in_line = f"[{_class(_IN_LINE - ends)}]" if anywhere else words
    return (
        rf"(?<!{words}{this})"
        rf"(?<![{_class(before_blank - ends)}]\s{this})"
        rf"(?<!{in_line}[^\S\n]{this})"
        rf"(?<![{_QUOTES}]:\s{this})"
    )


def _class(characters: AbstractSet[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))
