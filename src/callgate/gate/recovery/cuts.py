"""Where one block of text holds several calls: which part of it is which."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"""(["'])(?:(?!\1|\\).)*(?:\\.(?:(?!\1|\\).)*)*(?:\1|\Z)|[{}()\[\]]""", re.DOTALL)
_NAME_END = re.compile(r"[\w.\-]*\Z")
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_LONGEST_NAME = 256


def call_spans(text: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """From where to where each call stands, in the order of their names; none where that can't be told."""
    levels: dict[tuple[int, str], list[tuple[int, int]]] = {}
    opened: list[tuple[str, int]] = []
    for token in _TOKEN.finditer(text):
        char = token.group()
        if char in _CLOSING:
            opened.append((char, token.start()))
        elif opened and char == _CLOSING[opened[-1][0]]:
            bracket, start = opened.pop()
            levels.setdefault((len(opened), bracket), []).append((start, token.end()))
    for (_, bracket), spans in sorted(levels.items(), key=lambda level: (level[0][0], level[0][1] != "{")):
        if bracket != "[" and len(spans) == len(names):
            named = [(_with_name(text, start), end) if bracket == "(" else (start, end) for start, end in spans]
            if all(name in text[start:end] for name, (start, end) in zip(names, named, strict=True)):
                return named
    return []


def _with_name(text: str, start: int) -> int:
    before = text[max(0, start - _LONGEST_NAME) : start]
    name = _NAME_END.search(before)
    return start - len(name.group()) if name else start
