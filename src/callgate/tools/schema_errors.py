"""What is wrong with arguments, in sentences that a model can act upon. They name places and types, never values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from callgate.tools.plain_values import escaped
from callgate.tools.schema_nodes import Node, nodes_of
from callgate.tools.validators import Schema, holds

MOST_ERRORS = 20
MOST_LISTED = 20
DEEPEST_NAMED = 40
DEEPEST_DESCRIBED = 3
MOST_STEPS = 200_000
"""Values looked at."""
LONGEST_RULE = 200
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "an array", "null": "null"}
_RULES = {
    "const": "be {}",
    "minimum": "be at least {}",
    "maximum": "be at most {}",
    "exclusiveMinimum": "be more than {}",
    "exclusiveMaximum": "be less than {}",
    "multipleOf": "be a multiple of {}",
    "minLength": "have at least {} characters",
    "maxLength": "have at most {} characters",
    "pattern": "match the pattern {}",
    "minItems": "have at least {} items",
    "maxItems": "have at most {} items",
    "uniqueItems": "have no item twice",
    "minProperties": "have at least {} keys",
    "maxProperties": "have at most {} keys",
}


def complaints(schema: Schema, value: object) -> tuple[str, ...]:
    """One sentence for each thing that is wrong with `value`; none, if it fits."""
    found = dict.fromkeys(islice(_Complaints(schema).about(value, ("#",), "", 0), MOST_ERRORS))
    return tuple(found)


class _Complaints:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._nodes = nodes_of(schema)
        self._steps = 0

    def about(self, value: object, at: tuple[str, ...], path: str, depth: int) -> Iterator[str]:
        """At least one sentence, if `value` doesn't fit."""
        self._steps += 1
        if self._schema.is_valid_at(at, value):
            return
        node = self._nodes.at(at)
        place = f"`{path}`" if path else "the arguments"
        if node.members is not None or (node.types and _kind(value) not in _widened(node.types)):
            yield f"{place} must be {self._described(node)}"
            return
        found = False
        if depth < DEEPEST_NAMED and self._steps < MOST_STEPS:
            for sentence in self._inside(value, node, at, path, depth):
                found = True
                yield sentence
        for sentence in _broken(value, node):
            found = True
            yield f"{place} must {sentence}"
        if not found:
            yield f"{place} must be {self._described(node)} that the schema allows"

    def _inside(self, value: object, node: Node, at: tuple[str, ...], path: str, depth: int) -> Iterator[str]:
        for where, branches in node.unions:
            if any(self._schema.is_valid_at((branch,), value) for branch in branches):
                continue
            hopeful = self._nodes.hopeful(branches)
            if hopeful is not None and branches[hopeful] not in at:
                yield from self.about(value, (*at, branches[hopeful]), path, depth + 1)
                return
            joined = self._described(*(self._nodes.at((branch,)) for branch in branches[:MOST_LISTED]))
            yield f"{f'`{path}`' if path else 'the arguments'} must be {joined}" + _one_of(where, joined)
        if isinstance(value, dict):
            for name in sorted(node.required - value.keys()):
                kind = self._described(self._nodes.at(node.properties.get(name, ())))
                yield f"`{path}/{escaped(name)}` is missing" + (f": {kind}" if kind != _ANYTHING else "")
            self._steps += len(value) * node.dearness
            for key, item in value.items() if self._steps < MOST_STEPS else ():
                here = f"{path}/{escaped(key)}"
                if node.forbids(key):
                    yield f"`{here}` isn't a parameter"
                elif below := node.at_key(key):
                    yield from self.about(item, below, here, depth + 1)
        elif isinstance(value, list):
            for index, item in enumerate(islice(value, MOST_STEPS)):
                if below := node.at_item(index):
                    yield from self.about(item, below, f"{path}/{index}", depth + 1)

    def _described(self, *nodes: Node) -> str:
        kinds = dict.fromkeys(kind for node in nodes for kind in self._kinds(node, 0))
        if len(kinds) > 1:
            kinds.pop(_ANYTHING, None)
        return " or ".join(islice(kinds, MOST_LISTED)) or _ANYTHING

    def _kinds(self, node: Node, depth: int) -> Iterator[str]:
        if node.members is not None:
            shown = [_shown(member) for member in node.members[:MOST_LISTED]]
            yield f"one of {', '.join(shown)}{' …' if len(node.members) > MOST_LISTED else ''}"
        elif node.types:
            yield from (_ARTICLES.get(kind, f"a {kind}") for kind in node.types)
        elif node.unions and depth < DEEPEST_DESCRIBED:
            for branch in node.unions[0][1][:MOST_LISTED]:
                yield from self._kinds(self._nodes.at((branch,)), depth + 1)
        else:
            yield _ANYTHING


_ANYTHING = "a value"


def _one_of(where: str, joined: str) -> str:
    return ", and fit only one of the alternatives" if where.endswith("/oneOf") and " or " not in joined else ""


def _broken(value: object, node: Node) -> Iterator[str]:
    """The single rules that `value` doesn't keep to."""
    for _, facet in node.facets:
        for keyword, words in _RULES.items():
            if keyword in facet and not holds(keyword, msgspec.json.encode(facet[keyword]), value):
                yield words.format(_shown(facet[keyword]))


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_RULE else text[: LONGEST_RULE - 1] + "…"


def _kind(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
        case float() if not value.is_integer():
            return "number" if math.isfinite(value) else "no number"
    return "integer"


def _widened(types: tuple[str, ...]) -> set[str]:
    return {*types, "integer"} if "number" in types else set(types)
