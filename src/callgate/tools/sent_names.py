"""The names under which tools are sent to a backend that doesn't take every name: one for each, and back again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from hashlib import sha256
from itertools import count
from unicodedata import combining, normalize

import msgspec

from callgate.vocabulary import UsageError

DIGITS = 8
"""Of the digest that tells apart what would be spelled alike."""
_LONGEST_TRIED = 256
_STEM = "tool"


class _Rule(msgspec.Struct, frozen=True):
    """What a backend's pattern comes to."""

    pattern: re.Pattern[str]
    longest: int
    filler: str

    def takes(self, name: str) -> bool:
        return self.pattern.fullmatch(name) is not None


def names_to_send(names: Iterable[str], accepts: str) -> dict[str, str]:
    """For each name the one to send. It depends on the set alone, not on its order.

    What is accepted stays. Anything else is spelled with what is accepted; where that is too long, or what another
    tool is called, part of a digest of the name tells them apart.

    Raises: UsageError, if the pattern leaves no room for a name.
    """
    rule = _rule(accepts)
    given = set(names)
    sent = {name: name for name in given if rule.takes(name)}
    if len(sent) == len(given):
        return sent
    spelled = {name: _spelled(name, accepts) for name in sorted(given - sent.keys())}
    wanted = Counter(spelled.values())
    taken = set(sent)
    sent |= {
        name: plain
        for name, plain in spelled.items()
        if plain is not None and wanted[plain] == 1 and plain not in taken
    }
    taken.update(sent.values())
    for name in spelled:
        if name not in sent:
            sent[name] = _told_apart(name, rule, taken)
            taken.add(sent[name])
    return sent


def name_to_send(name: str, accepts: str, taken: AbstractSet[str]) -> str:
    """For a name that isn't among those offered: one that is accepted and not `taken`."""
    rule = _rule(accepts)
    plain = name if rule.takes(name) else _spelled(name, accepts)
    return plain if plain is not None and plain not in taken else _told_apart(name, rule, taken)


def _spelled(name: str, accepts: str) -> str | None:
    """The name in accepted characters; None if it doesn't fit, or if too little of it would be left."""
    return _spelled_before(name, accepts) if len(name) <= _LONGEST_TRIED else None


@lru_cache(maxsize=4096)
def _spelled_before(name: str, accepts: str) -> str | None:
    rule = _rule(accepts)
    plain = _in_accepted_characters(name, rule)
    if not any(map(str.isalnum, plain)):
        return None
    return next((way for way in (plain, f"{_STEM}{rule.filler}{plain}") if rule.takes(way)), None)


def _told_apart(name: str, rule: _Rule, taken: AbstractSet[str]) -> str:
    start = _in_accepted_characters(name[:_LONGEST_TRIED], rule)
    stems = (start, f"{_STEM}{rule.filler}{start}", _STEM) if any(map(str.isalnum, start)) else (_STEM,)
    room = max(rule.longest - DIGITS - len(rule.filler), 0)
    for attempt in count():
        digest = sha256(f"{attempt}:{name}".encode(errors="surrogatepass")).hexdigest()[:DIGITS]
        ways = [f"{stem[:room].rstrip(rule.filler)}{rule.filler}{digest}" for stem in stems]
        fitting = next((way for way in ways if rule.takes(way)), None)
        if fitting is None:
            raise UsageError(f"the tool {name[:80]!r} can't be given a name that fits {rule.pattern.pattern!r}")
        if fitting not in taken:
            return fitting
    raise AssertionError


def _in_accepted_characters(name: str, rule: _Rule) -> str:
    letters = [letter for letter in normalize("NFKD", name) if not combining(letter)]
    accepted = {letter: rule.takes(f"a{letter}a") for letter in set(letters)}
    spelled: list[str] = []
    for letter in letters:
        if accepted[letter]:
            spelled.append(letter)
        elif spelled and spelled[-1] != rule.filler:
            spelled.append(rule.filler)
    return "".join(spelled).rstrip(rule.filler)


@lru_cache(maxsize=32)
def _rule(accepts: str) -> _Rule:
    pattern = re.compile(accepts)
    longest = next((length for length in range(_LONGEST_TRIED, 0, -1) if pattern.fullmatch("a" * length)), 0)
    filler = next((letter for letter in "_-." if pattern.fullmatch(f"a{letter}a")), "")
    return _Rule(pattern, longest, filler)
