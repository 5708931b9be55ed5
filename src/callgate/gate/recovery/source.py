"""Text that comes in pieces, read once and forwards; readers wait for more by `yield`, wherever a piece was cut."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

Reading = Generator[None, None, T]
"""Yields when it needs more text; returns what it read."""

_BLANK = re.compile(r"\s*")


class Source:
    """What has come and isn't read yet, and from `start` on also what was, since it may turn out to be plain text."""

    __slots__ = ("_kept", "_kept_length", "at", "ended", "start", "steps", "text")

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.start = 0
        self.ended = False
        self.steps = 0
        """Characters copied or pushed back so far: the measure of work that tests look at."""
        self._kept: list[str] = []
        self._kept_length = 0

    def feed(self, text: str) -> None:
        if self.at > self.start:
            self._kept.append(self.text[self.start : self.at])
            self._kept_length += self.at - self.start
        rest = self.text[self.at :]
        self.steps += len(rest) + len(text)
        self.text = rest + text
        self.at = self.start = 0

    def held(self) -> int:
        """How much was read since `start`."""
        return self._kept_length + self.at - self.start

    def raw(self) -> str:
        """What was read since `start`."""
        recent = self.text[self.start : self.at]
        return "".join((*self._kept, recent)) if self._kept else recent

    def release(self) -> str:
        """The same, and from now on it is gone."""
        raw = self.raw()
        self._kept.clear()
        self._kept_length = 0
        self.start = self.at
        return raw

    def back(self) -> None:
        """To `start`, as if nothing had been read."""
        if self._kept:
            raw = self.raw()
            self.steps += len(raw) + len(self.text) - self.at
            self.text = raw + self.text[self.at :]
            self._kept.clear()
            self._kept_length = 0
            self.start = 0
        self.at = self.start

    def ahead(self, size: int) -> Reading[str]:
        """The next `size` characters, unread; fewer only at the end."""
        while len(self.text) - self.at < size and not self.ended:
            yield
        return self.text[self.at : self.at + size]

    def skip_blank(self) -> Reading[str]:
        """Passes white space; gives the character after it, unread, or nothing at the end."""
        while True:
            match = _BLANK.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                return ""
            yield

    def take(self, finder: Finder) -> Reading[str]:
        """Passes the literal that comes next, and gives it; nothing if none does."""
        while True:
            ahead = self.text[self.at : self.at + finder.longest]
            if not self.ended and (not ahead or ahead in finder.beginnings):
                yield
                continue
            match = finder.exact.match(self.text, self.at)
            if match is None:
                return ""
            self.at = match.end()
            return match.group()

    def take_end(self, finder: Finder) -> Reading[str]:
        """The same for what ends something: the text may end in the middle of it."""
        found = yield from self.take(finder)
        rest = self.text[self.at : self.at + finder.longest]
        if not found and self.ended and rest in finder.beginnings:
            found, self.at = rest, len(self.text)
        return found

    def until(self, finder: Finder) -> Reading[tuple[str, str]]:
        """Passes all up to the next of the literals and that too; gives both, the literal empty at the end."""
        parts: list[str] = []
        while True:
            start, literal = finder.find(self.text, self.at, ended=self.ended)
            if start > self.at:
                parts.append(self.text[self.at : start])
                self.at = start
            if literal or self.ended:
                self.at += len(literal)
                return "".join(parts), literal
            yield

    def while_in(self, pattern: re.Pattern[str], most: int) -> Reading[str]:
        """Passes what `pattern`, a class of characters repeated, matches; no more than about `most`."""
        parts: list[str] = []
        taken = 0
        while True:
            match = pattern.match(self.text, self.at)
            if match and match.end() > self.at:
                parts.append(match.group())
                taken += match.end() - self.at
                self.at = match.end()
            if self.at < len(self.text) or self.ended or taken > most:
                return "".join(parts)
            yield


class Finder:
    """Finds the first of some literals, or the beginning of one where the text is cut.

    Those that begin with a letter aren't found within a word, as far as the text at hand shows where words begin.
    """

    __slots__ = ("beginnings", "exact", "first", "longest", "may_begin")

    def __init__(self, literals: Iterable[str]) -> None:
        known = sorted(literals, key=len, reverse=True)
        self.exact = re.compile("|".join(_not_within_word(literal) + re.escape(literal) for literal in known) or "(?!)")
        self.beginnings = frozenset(literal[:size] for literal in known for size in range(1, len(literal)))
        self.longest = len(known[0]) if known else 0
        self.may_begin = re.compile(_two_characters(known))
        firsts = "".join(sorted({re.escape(literal[0]) for literal in known}))
        self.first = re.compile(f"[{firsts}]" if firsts else "(?!)")
        """A set of characters, which costs least to look for."""

    def is_plain(self, text: str) -> bool:
        """Whether there is none in it, nor the beginning of one at its end."""
        return self.may_begin.search(text) is None

    def find(self, text: str, at: int, *, ended: bool) -> tuple[int, str]:
        """Where the next is, and which; no literal where it may be beginning, or, at the text's end, where none is."""
        near = self.first.search(text, at) and self.may_begin.search(text, at)
        if near is None:
            return len(text), ""
        match = self.exact.search(text, near.start())
        start, literal = (match.start(), match.group()) if match else (len(text), "")
        if not ended:
            place = self.may_begin.search(text, max(near.start(), len(text) - self.longest + 1))
            while place and place.start() <= start:
                if text[place.start() :] in self.beginnings:
                    return place.start(), ""
                place = self.may_begin.search(text, place.start() + 1)
        return start, literal


@lru_cache(maxsize=1024)
def finder(*literals: str) -> Finder:
    return Finder(literals)


def _not_within_word(literal: str) -> str:
    return r"(?<!\w)" if literal[0].isalnum() else ""


def _two_characters(literals: Iterable[str]) -> str:
    """A pattern for the first two characters of each, or the first at the end of the text."""
    seconds: dict[str, set[str]] = {}
    for literal in literals:
        seconds.setdefault(literal[0], set()).add(literal[1:2])
    ways = []
    for first, others in sorted(seconds.items()):
        follows = "".join(map(re.escape, sorted(others)))
        rest = "" if "" in others else rf"(?:[{follows}]|\Z)"
        ways.append(_not_within_word(first) + re.escape(first) + rest)
    return "|".join(ways) or "(?!)"
