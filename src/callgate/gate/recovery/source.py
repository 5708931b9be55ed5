"""Text that comes in pieces, read once and forwards; readers wait for more by `yield`, wherever a piece was cut.

What a reader finds, and where it stops, follows from the text alone, never from where that was cut: a bound is exact.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from typing import Protocol, TypeVar

from callgate.gate.recovery.finders import Finder

T = TypeVar("T")

Reading = Generator[None, None, T]
"""Yields when it needs more text; returns what it read."""

KEPT = 3
"""Characters before what is read."""
_BLANK = re.compile(r"\s*")


class TooLong(Exception):
    """What was read has no end within its bound, and so is no part of a call."""


class Passing(Protocol):
    """What needs no more than a look at most chunks, while a reader waits."""

    over: bool

    def run(self, text: str, at: int) -> int: ...


class Source:
    """What has come and isn't read yet, and from `start` on also what was, since it may turn out to be plain text.

    Some characters before `start`, or at least one if there was any, stay too: they say what may begin there.
    """

    __slots__ = ("_before", "_kept", "_kept_length", "_reached", "at", "ended", "scan", "start", "steps", "text")

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.start = 0
        self.ended = False
        self.steps = 0
        """Characters copied, passed or searched so far: the measure of work that tests look at."""
        self.scan: Passing | None = None
        """What the reader that waits for more would do with it; all that has come was read."""
        self._kept: list[str] = []
        self._kept_length = 0
        self._before = ""
        self._reached = 0

    def feed(self, text: str) -> None:
        at = self.at
        self.scan = None
        self._keep()
        self.steps += len(self.text) - at + len(text)
        if at:
            self.text = self.text[at - KEPT if at > KEPT else 0 :] + text
            self.at = self.start = min(at, KEPT)
        elif self._kept:
            before = self._kept[-1][-KEPT:]
            self.text = before + text
            self.at = self.start = len(before)
        else:
            self.text += text

    def passes(self, text: str, most: int) -> bool:
        """The same; says whether the reader that waits has read it so, and needs not be woken.

        `most`: how far anything may be read without its noticing.
        """
        scan = self.scan
        size = len(text)
        if scan is None or self._reached + self._kept_length + len(self.text) + size > most:
            self.feed(text)
            return False
        at = scan.run(text, 0)
        if at < size or scan.over:
            self.feed(text)
            self.at += at
            return False
        if self.text:
            self._keep()
            self.text = ""
            self.at = self.start = 0
        self._kept.append(text)
        self._kept_length += size
        self.steps += size
        return True

    def _keep(self) -> None:
        """What was read, out of the way of what comes."""
        at, start = self.at, self.start
        if at > start:
            if not self._kept:
                self._before = self.text[max(start - KEPT, 0) : start]
            self._kept.append(self.text[start:at])
            self._kept_length += at - start

    def passed(self, text: str) -> None:
        """Takes note of text that was given out by a shorter way, while none was held back."""
        self.text = text
        self.at = self.start = len(text)

    def held(self) -> int:
        """How much was read since `start`."""
        return self._kept_length + self.at - self.start

    def reached(self) -> int:
        """How far anything was read since `start`, also if it was gone back from there."""
        return max(self._reached, self._kept_length + self.at - self.start)

    def raw(self, since: int = 0) -> str:
        """What was read since `start`; or since the place before which `since` characters were."""
        if self._kept_length <= since:
            return self.text[self.start + since - self._kept_length : self.at]
        parts = [self.text[self.start : self.at]]
        first = self._kept_length
        for part in reversed(self._kept):
            if first <= since:
                break
            parts.append(part)
            first -= len(part)
        whole = "".join(reversed(parts))
        self.steps += len(whole)
        return whole[max(since - first, 0) :]

    def release(self) -> str:
        """The same, and from now on it is gone."""
        raw = self.raw()
        self._kept.clear()
        self._kept_length = self._reached = 0
        self.start = self.at
        return raw

    def back(self, to: int = 0) -> None:
        """To `start`, as if nothing had been read; or to the place before which `to` characters were."""
        self._reached = self.reached()
        if self._kept_length > to:
            parts = [self.text[self.start :]]
            while self._kept_length > to:
                parts.append(self._kept.pop())
                self._kept_length -= len(parts[-1])
            parts.append(self._kept[-1][-KEPT:] if self._kept else self._before)
            self.text = "".join(reversed(parts))
            self.steps += len(self.text)
            self.start = len(parts[-1])
        self.at = self.start + to - self._kept_length

    def ahead(self, size: int) -> Reading[str]:
        """The next `size` characters, unread; fewer only at the end."""
        while len(self.text) - self.at < size and not self.ended:
            yield
        return self.text[self.at : self.at + size]

    def skip_blank(self) -> Reading[str]:
        """Passes white space; gives the character after it, unread, or nothing at the end."""
        while True:
            match = _BLANK.match(self.text, self.at)
            if match:
                self.steps += match.end() - self.at
                self.at = match.end()
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                return ""
            yield

    def take(self, finder: Finder) -> Reading[str]:
        """Passes the literal that comes next, and gives it; nothing if none does."""
        while finder.longest:
            ahead = self.text[self.at : self.at + finder.longest]
            self.steps += len(ahead)
            if not self.ended and (not ahead or ahead in finder.beginnings):
                yield
                continue
            match = finder.exact.match(self.text, self.at)
            if match is None:
                return ""
            self.at = match.end()
            return match.group()
        return ""

    def take_end(self, finder: Finder) -> Reading[str]:
        """The same for what ends something: the text may end in the middle of it."""
        found = yield from self.take(finder)
        rest = self.text[self.at : self.at + finder.longest]
        if not found and self.ended and rest in finder.beginnings:
            found, self.at = rest, len(self.text)
        return found

    def find(self, finder: Finder, within: int = sys.maxsize) -> tuple[int, str]:
        """Where the next of the literals is, and which; looks no further than `within` characters."""
        end = min(self.at + within, len(self.text))
        start, literal = finder.find(self.text, self.at, end, ended=self.ended and end == len(self.text))
        self.steps += (start if literal else end) - self.at
        return start, literal

    def until(self, finder: Finder, most: int = sys.maxsize) -> Reading[tuple[str, str]]:
        """Passes all up to the next of the literals and that too; gives both, the literal empty at the end.

        Raises: TooLong, if more than `most` characters come first.
        """
        parts: list[str] = []
        left = most
        while True:
            start, literal = self.find(finder, left + 1 + finder.longest)
            start = min(start, self.at + left + 1)
            if start > self.at:
                parts.append(self.text[self.at : start])
                left -= start - self.at
                self.at = start
            if left < 0:
                raise TooLong
            if literal or self.ended:
                self.at += len(literal)
                return "".join(parts), literal
            yield

    def while_in(self, pattern: re.Pattern[str], most: int = sys.maxsize) -> Reading[str]:
        """Passes what `pattern`, a class of characters repeated, matches.

        Raises: TooLong, if that is more than `most` characters.
        """
        parts: list[str] = []
        left = most
        while True:
            match = pattern.match(self.text, self.at, min(self.at + left + 1, len(self.text)))
            if match and match.end() > self.at:
                parts.append(match.group())
                left -= match.end() - self.at
                self.steps += match.end() - self.at
                self.at = match.end()
            if left < 0:
                raise TooLong
            if self.at < len(self.text) or self.ended:
                return "".join(parts)
            yield
