"""How much tools have to do with what somebody says: by the words that they share, weighed as BM25 does.

Nothing is learnt and nothing is asked: the same words always give the same numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import log

from callgate.vocabulary import Tool

LONGEST_DESCRIPTION = 1_000
"""Characters of it that are read: what a tool is for stands at its start."""
LONGEST_SAID = 4_000
"""Characters that are read of what is said, half of them from its end: that is where questions stand."""
MOST_PARAMETERS = 50
REMEMBERED = 256
"""What was said: of a talk, all but the last comes again with every request."""

_NAME_WEIGHT = 3
_SATURATION = 1.2
_LENGTH_SHARE = 0.5
"""By how much long descriptions count for less."""
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNSPACED = "\u0e00"
"""From here on, scripts mostly have no spaces between words."""
_SUFFIXES = (
    *("ication", "ations", "ation", "ators", "ating", "ator", "ated", "ates", "ions", "ings"),
    *("ate", "ers", "ors", "ion", "ing", "ies", "ied", "es", "er", "or", "ed", "s", "e", "y"),
)
"""The longest first."""
_SHORTEST_STEM = 3
_COMMON_WORDS = """
a about after all also an and any are as at be been but by can could did do does for from get go had has have he her
here him his how i if in into is it its just let me more my no not now of off on one or our out over own please she
should so some such than thank thanks that the their them then there these they this those to too up us very was we
were what when where which who why will with would yes you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Relevance:
    """Of these tools."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        counted = [_counted(tool) for tool in tools]
        lengths = [sum(words.values()) for words in counted]
        usual = sum(lengths) / len(lengths) if lengths else 1.0
        self._where: dict[str, list[tuple[int, float]]] = {}
        for place, words in enumerate(counted):
            damped = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths[place] / (usual or 1.0))
            for word, times in words.items():
                self._where.setdefault(word, []).append((place, times * (_SATURATION + 1) / (times + damped)))
        self._tools = len(tools)
        self.of_a_rare_word = self._rarity(1)
        """What a tool gets that has a word once which no other has, and is of the usual length."""
        self._known: dict[str, Mapping[int, float]] = {}

    def scores(self, said: str) -> Mapping[int, float]:
        """By the places of the tools; those that have nothing to do with it aren't there."""
        half = LONGEST_SAID // 2
        text = said if len(said) <= LONGEST_SAID else f"{said[:half]} {said[-half:]}"
        if (known := self._known.get(text)) is not None:
            return known
        found: dict[int, float] = {}
        for word in dict.fromkeys(words_in(text)):
            places = self._where.get(word, ())
            rarity = self._rarity(len(places))
            for place, weight in places:
                found[place] = found.get(place, 0.0) + rarity * weight
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[text] = found
        return found

    def _rarity(self, having: int) -> float:
        return log(1 + (self._tools - having + 0.5) / (having + 0.5))


def _counted(tool: Tool) -> Counter[str]:
    """A tool's words: those of its name count for more."""
    found = Counter(words_in(tool.description[:LONGEST_DESCRIPTION]))
    properties = tool.parameters.get("properties")
    if isinstance(properties, Mapping):
        for name in islice(properties, MOST_PARAMETERS):
            found.update(words_in(str(name)[:LONGEST_DESCRIPTION]))
    for word in words_in(tool.name):
        found[word] += _NAME_WEIGHT
    return found


def words_in(text: str) -> Iterator[str]:
    """Without their endings, and without those that say nothing. `readFile` and `read_file` are two words each."""
    for run in _WORD.findall(text):
        if run.isascii():
            for part in _PART.findall(run):
                word = part.lower()
                if word not in _COMMON:
                    yield _stem(word)
        elif max(run) >= _UNSPACED:
            yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
        else:
            yield run.lower()


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word[: -len(suffix)]
    return word
