"""Whether a text is of a grammar: a small reader of GBNF, slow and sure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""\s*(?:(?P<literal>"(?:\\.|[^"\\])*")|(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<name>[\w-]+)"""
    r"""|(?P<count>\{\d+(?:,\d*)?\}|[*+?])|(?P<mark>[()|]))"""
)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)

Node = tuple[str, object]


class Repeat(NamedTuple):
    part: Node
    fewest: int
    most: int


class Grammar:
    def __init__(self, text: str) -> None:
        self._rules: dict[str, Node] = {}
        for line in text.splitlines():
            name, _, body = line.partition(" ::= ")
            assert re.fullmatch(r"[a-zA-Z0-9-]+", name), line
            assert name not in self._rules, f"{name} is defined twice"
            node, rest = _alternatives(_tokens(body))
            assert not rest, rest
            self._rules[name] = node

    def matches(self, text: str) -> bool:
        """Keeps the set of places that are reached, so that it takes no longer than rules times characters."""
        self._memo: dict[tuple[int, int], frozenset[int]] = {}
        return len(text) in self._ends(self._rules["root"], text, 0)

    def _ends(self, node: Node, text: str, at: int) -> frozenset[int]:
        key = id(node), at
        if key not in self._memo:
            self._memo[key] = frozenset(self._walk(node, text, at))
        return self._memo[key]

    def _walk(self, node: Node, text: str, at: int) -> Iterator[int]:
        kind, value = node
        if kind == "literal":
            assert isinstance(value, str)
            if text.startswith(value, at):
                yield at + len(value)
        elif kind == "set":
            assert isinstance(value, re.Pattern)
            if at < len(text) and value.fullmatch(text[at]):
                yield at + 1
        elif kind == "name":
            yield from self._ends(self._rules[str(value)], text, at)
        elif kind == "either":
            for one in value:  # type: ignore[attr-defined]
                yield from self._ends(one, text, at)
        elif kind == "sequence":
            reached = {at}
            for one in value:  # type: ignore[attr-defined]
                reached = {end for start in reached for end in self._ends(one, text, start)}
            yield from reached
        else:
            assert isinstance(value, Repeat)
            part, fewest, most = value
            reached, count = {at}, 0
            seen: set[int] = set()
            while reached and count <= most:
                if count >= fewest:
                    seen |= reached
                reached = {end for start in reached for end in self._ends(part, text, start)}
                count += 1
            yield from seen


def _tokens(body: str) -> list[tuple[str, str]]:
    found, at = [], 0
    body = body.rstrip()
    while at < len(body):
        match = _TOKEN.match(body, at)
        assert match, body[at : at + 40]
        found.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return found


def _alternatives(tokens: list[tuple[str, str]]) -> tuple[Node, list[tuple[str, str]]]:
    options: list[Node] = []
    parts: list[Node] = []
    while tokens and tokens[0] != ("mark", ")"):
        (kind, text), *tokens = tokens
        if (kind, text) == ("mark", "|"):
            options.append(("sequence", parts))
            parts = []
        elif (kind, text) == ("mark", "("):
            inner, tokens = _alternatives(tokens)
            assert tokens
            tokens = tokens[1:]
            parts.append(inner)
        elif kind == "count":
            parts[-1] = ("repeat", Repeat(parts[-1], *_counts(text)))
        elif kind == "literal":
            parts.append(("literal", _ESCAPE.sub(_unescaped, text[1:-1])))
        elif kind == "set":
            parts.append(("set", re.compile(re.sub(r"\\U0*([0-9A-F]{5,})", lambda m: chr(int(m[1], 16)), text))))
        else:
            parts.append((kind, text))
    options.append(("sequence", parts))
    return ("either", options), tokens


def _counts(text: str) -> tuple[int, int]:
    if text in "*+?":
        return {"*": (0, 10**6), "+": (1, 10**6), "?": (0, 1)}[text]
    low, comma, high = text[1:-1].partition(",")
    most = int(high or 10**6) if comma else int(low)
    assert most < 2000 or not high, "llama.cpp refuses so many"
    return int(low), most


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else {"n": "\n", "r": "\r", "t": "\t"}.get(code, code)
