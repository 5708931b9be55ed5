"""Walks over length-prefixed strings, hundreds of thousands of them, without making an object of any.

A vocabulary is most of a header, and nobody wants it: only where it ends. Each string's place follows from all lengths
before it, so every one has to be read. A loop in Python takes 100 ns a string; here the loop is the regular expression
engine's, and takes half of that. The pattern has one branch for each common length, its prefix spelled out byte for
byte (`\\x05` and seven zero bytes, then any five bytes), and is repeated possessively, 96 strings a match. So what it
matches is exactly what reading the lengths one by one gives; where it doesn't match (a longer string, the end of the
block) they are read one by one.
"""

from __future__ import annotations

import re
from functools import cache
from struct import Struct, pack

GROUP = 96
WORTH_COMPILING = 30_000  # strings; compiling takes as long as passing so many one by one

_LONGEST = 96
_COMMON_LENGTHS = (7, 6, 8, 5, 9, 4, 10, 11, 12, 3, 13, 14, 15, 2, *range(16, _LONGEST + 1), 1, 0)
"""Of tokens and merges in large vocabularies, the most frequent first: branches are tried in this order."""


class StringWalker:
    """Passes the strings of one array, block by block."""

    def __init__(self, count: int, prefix: Struct) -> None:
        """`prefix` unpacks a string's length."""
        self.left = count
        self.prefix = prefix
        self._match = _pattern(prefix.format).match if count >= WORTH_COMPILING else None

    def walk(self, block: bytes, start: int, marks: list[tuple[int, int]] | None = None) -> int:
        """Pass all strings that lie whole in `block` from `start` on; returns where the next one starts.

        `marks` is given some places on the way: how many strings were left, and the position.
        """
        match = self._match
        position, left = start, self.left
        while left:
            if marks is not None:
                marks.append((left, position))
            if match and left >= GROUP and (found := match(block, position)):
                position = found.end()
                left -= GROUP
                continue
            position, passed = _walk_one_by_one(block, position, min(GROUP, left), self.prefix)
            if not passed:
                break
            left -= passed
        self.left = left
        return position


def _walk_one_by_one(block: bytes, position: int, count: int, prefix: Struct) -> tuple[int, int]:
    """Stops early behind a string that the pattern can't match: from there on it may match again."""
    unpack, size = prefix.unpack_from, prefix.size
    end = len(block)
    last = end - size - _LONGEST
    for passed in range(count):  # noqa: B007 - it is looked at behind the loop
        # Up to here a common string can't reach over the block's end, so that there is less to look at.
        if position > last:
            break
        (length,) = unpack(block, position)
        if length > _LONGEST:
            break
        position += size + length
    else:
        return position, count
    if position + size <= end:
        after = position + size + unpack(block, position)[0]
        if after <= end:
            return after, passed + 1
    return position, passed


@cache
def _pattern(prefix: str) -> re.Pattern[bytes]:
    branches = (re.escape(pack(prefix, length)) + b".{%d}+" % length for length in _COMMON_LENGTHS)
    return re.compile(b"(?s:" + b"|".join(branches) + b"){%d}+" % GROUP)
