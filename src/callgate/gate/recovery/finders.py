"""Finds literals in a text that comes in pieces: also where one may just be beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

LOOKED_AT = 3
"""Characters of a literal that are enough to take a closer look."""


class Guard(msgspec.Struct, frozen=True):
    """What else has to be so where a literal of one character stands, for it to count."""

    around: str
    """A pattern that has to match behind it. At the end of the text it may be that nobody knows yet."""
    unknown: re.Pattern[str]
    """Matches all from the literal to the end of the text, where that is so."""


class Finder:
    """Finds the first of some literals, or the beginning of one where the text is cut.

    Those that begin with a letter aren't found within a word. `guards`: of literals of one character; `longest`: how
    much of the text one of these may have to look at.
    """

    __slots__ = ("_guards", "beginnings", "exact", "first", "longest", "may_begin")

    def __init__(self, literals: Iterable[str], guards: Mapping[str, Guard] = {}, longest: int = 0) -> None:
        known = sorted({*literals, *guards}, key=len, reverse=True)
        guarded = [_exactly(literal) + guard.around for literal, guard in guards.items()]
        unguarded = [literal for literal in known if literal not in guards]
        self._guards = guards
        self.exact = re.compile("|".join([*map(_exactly, unguarded), *guarded]) or "(?!)")
        self.beginnings = frozenset(literal[:size] for literal in known for size in range(1, len(literal)))
        self.longest = max((longest, *map(len, known)))
        self.may_begin = re.compile(
            "|".join([*beginnings(unguarded, LOOKED_AT, within_words=False), *guarded]) or "(?!)"
        )
        firsts = "".join(sorted({re.escape(literal[0]) for literal in known}))
        self.first = re.compile(f"[{firsts}]" if firsts else "(?!)")
        """A set of characters, which costs least to look for."""

    def is_plain(self, text: str) -> bool:
        """Whether there is none in it, nor the beginning of one at its end."""
        return self.may_begin.search(text) is None

    def find(self, text: str, at: int, end: int, *, ended: bool) -> tuple[int, str]:
        """Where the next is before `end`, and which; no literal where it may be beginning, or, at `end`, where none is.

        `ended`: nothing comes behind `end`.
        """
        near = self.first.search(text, at, end) and self.may_begin.search(text, at, end)
        if near is None:
            return end, ""
        match = self.exact.search(text, near.start(), end)
        start, literal = (match.start(), match.group()) if match else (end, "")
        if not ended:
            place = self.may_begin.search(text, max(near.start(), end - self.longest + 1), end)
            while place and place.start() <= start:
                if text[place.start() : end] in self.beginnings or self._is_unknown(text, place.start(), end):
                    return place.start(), ""
                place = self.may_begin.search(text, place.start() + 1, end)
        return start, literal

    def _is_unknown(self, text: str, at: int, end: int) -> bool:
        guard = self._guards.get(text[at])
        return guard is not None and guard.unknown.fullmatch(text, at, end) is not None


@lru_cache(maxsize=1024)
def finder(*literals: str) -> Finder:
    return Finder(literals)


def _exactly(literal: str) -> str:
    # What is looked for comes first: so it is found at the speed of a search for a set of characters.
    return re.escape(literal[0]) + _not_within_word(literal[0]) + re.escape(literal[1:])


def _not_within_word(first: str) -> str:
    return rf"(?<!\w{first})" if first.isalnum() else ""


def beginnings(literals: Iterable[str], length: int | None = None, *, within_words: bool = True) -> list[str]:
    """Patterns for the literals, or for the first `length` characters of each; or for fewer, where the text ends."""
    rests: dict[str, set[str]] = {}
    for literal in literals:
        rests.setdefault(literal[0], set()).add(literal[1:])
    ways = []
    for first, others in sorted(rests.items()):
        way = re.escape(first) + ("" if within_words else _not_within_word(first))
        if "" not in others and length != 1:
            way += f"(?:{'|'.join(beginnings(others, length and length - 1))}|\\Z)"
        ways.append(way)
    return ways
