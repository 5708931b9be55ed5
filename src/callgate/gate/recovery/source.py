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
            match = (finder.exact if self.ended else finder.pattern).match(self.text, self.at)
            if match is None:
                return ""
            if self.ended or is_whole(match, finder, self.text):
                self.at = match.end()
                return match.group()
            yield

    def take_end(self, finder: Finder) -> Reading[str]:
        """The same for what ends something: the text may end in the middle of it."""
        found = yield from self.take(finder)
        if not found and self.ended and (rest := finder.pattern.match(self.text, self.at)):
            found, self.at = rest.group(), rest.end()
        return found

    def until(self, finder: Finder) -> Reading[tuple[str, str]]:
        """Passes all up to the next of the literals and that too; gives both, the literal empty at the end."""
        parts: list[str] = []
        while True:
            match = (finder.exact if self.ended else finder.pattern).search(self.text, self.at)
            end = match.start() if match else len(self.text)
            if end > self.at:
                parts.append(self.text[self.at : end])
                self.at = end
            if match and (self.ended or is_whole(match, finder, self.text)):
                self.at = match.end()
                return "".join(parts), match.group()
            if self.ended:
                return "".join(parts), ""
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


def is_whole(match: re.Match[str], finder: Finder, text: str) -> bool:
    return match.group() in finder.literals and (match.end() < len(text) or match.group() not in finder.growing)


class Finder:
    """Finds the first of some literals, or the beginning of one where the text is cut."""

    __slots__ = ("exact", "growing", "literals", "pattern")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = frozenset(literals)
        self.growing = {
            one for one in self.literals if any(two != one and two.startswith(one) for two in self.literals)
        }
        """Those that may become a longer one when more text comes."""
        self.pattern = re.compile(_branches(self.literals, cut=True))
        self.exact = re.compile(_branches(self.literals, cut=False))


@lru_cache(maxsize=1024)
def finder(*literals: str) -> Finder:
    return Finder(literals)


def _branches(literals: Iterable[str], *, cut: bool) -> str:
    """A pattern for the longest of the literals that fits, or (`cut`) the beginning of one at the end of the text."""
    by_first: dict[str, set[str]] = {}
    for literal in literals:
        by_first.setdefault(literal[0], set()).add(literal[1:])
    return "|".join(re.escape(first) + _rest(rests, cut=cut) for first, rests in sorted(by_first.items())) or "(?!)"


def _rest(rests: set[str], *, cut: bool) -> str:
    longer = rests - {""}
    if not longer:
        return ""
    ways = [_branches(longer, cut=cut)]
    if cut:
        ways.append(r"\Z")
    if "" in rests:
        ways.append("")
    return f"(?:{'|'.join(ways)})"
