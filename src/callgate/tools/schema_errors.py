"""What is wrong with arguments, in sentences that a model can act upon. They name places and types, never values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from callgate.tools.plain_values import escaped
from callgate.tools.schema_branches import aim_of, allows_kind
from callgate.tools.schema_nodes import Node, nodes_of
from callgate.tools.validators import Schema, holds

MOST_ERRORS = 20
MOST_LISTED = 20
DEEPEST_NAMED = 40
DEEPEST_DESCRIBED = 3
MOST_COUNTED = 6
"""Complaints of a branch that is only tried."""
MOST_JOINED = 3
MOST_BRANCHES = 1000
MOST_STEPS = 200_000
"""Values looked at."""
MOST_EXTRA_STEPS = 20_000
"""In branches that are only tried, which unions of unions would multiply; and for parts of the schema that are new."""
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
    if not found and not schema.is_valid(value):
        return ("the arguments don't fit the schema, in a place that took too long to find",)
    return tuple(found)


class _Complaints:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._nodes = nodes_of(schema)
        self._left = MOST_STEPS
        self._extra_left = MOST_EXTRA_STEPS
        self._trials = 0
        """How many branches are being tried, each within the one before."""
        self._tried: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self._known: set[str] = set()

    def about(self, value: object, at: tuple[str, ...], path: str, depth: int) -> Iterator[str]:
        """At least one sentence, if `value` doesn't fit and it doesn't take too long to find out."""
        if self._fits(at, value) is not False:
            return
        node = self._nodes.at(at)
        place = _place(path)
        if node.members is not None or not allows_kind(node, value):
            yield f"{place} must be {self._described(node)}"
            return
        found = False
        if depth < DEEPEST_NAMED:
            for sentence in self._inside(value, node, at, path, depth):
                found = True
                yield sentence
        for sentence in _broken(value, node):
            found = True
            yield f"{place} must {sentence}"
        if not found:
            yield f"{place} must be {self._described(node)} that the schema allows"

    def _fits(self, at: tuple[str, ...], value: object) -> bool | None:
        """Whether it does; None, if there is no more time to find out."""
        self._spend(1 + len(at))
        for pointer in at:
            if pointer not in self._known:
                if self._extra_left < 0:
                    return None
                self._known.add(pointer)
                self._extra_left -= self._schema.dearness(pointer)
        return None if self._is_spent() else self._schema.is_valid_at(at, value)

    def _spend(self, steps: int) -> None:
        self._left -= steps
        self._extra_left -= steps if self._trials else 0

    def _is_spent(self) -> bool:
        return self._left < 0 or (self._trials > 0 and self._extra_left < 0)

    def _inside(self, value: object, node: Node, at: tuple[str, ...], path: str, depth: int) -> Iterator[str]:
        for where, branches in node.unions:
            if not any(branch in at for branch in branches):
                sentences, chosen = self._in_union(value, where, branches, at, path, depth)
                yield from sentences
                if chosen:  # what is asked of it besides was told with that branch
                    return
        if isinstance(value, dict):
            for name in sorted(node.required - value.keys()):
                kind = self._described(self._nodes.at(node.properties.get(name, ())))
                yield f"`{path}/{escaped(name)}` is missing" + (f": {kind}" if kind != _ANYTHING else "")
            self._spend(len(value) * node.dearness)
            for key, item in value.items() if not self._is_spent() else ():
                here = f"{path}/{escaped(key)}"
                if node.forbids(key):
                    yield f"`{here}` isn't a parameter"
                elif below := node.at_key(key):
                    yield from self.about(item, below, here, depth + 1)
        elif isinstance(value, list):
            for index, item in enumerate(islice(value, MOST_STEPS)):
                if below := node.at_item(index):
                    yield from self.about(item, below, f"{path}/{index}", depth + 1)

    def _in_union(
        self, value: object, where: str, branches: tuple[str, ...], at: tuple[str, ...], path: str, depth: int
    ) -> tuple[Iterable[str], bool]:
        """What is wrong with a value that fits no branch, or too many; and whether that was told by one of them."""
        if len(branches) > MOST_BRANCHES:
            return (), False
        fitting = 0
        for branch in branches:
            fits = self._fits((branch,), value)
            if fits is None:
                return (), False
            fitting += fits
            if fitting and where.endswith("/anyOf"):
                return (), False
        if fitting:
            several = [f"{_place(path)} fits {fitting} of the alternatives, and must fit only one"]
            return several if fitting > 1 else (), False
        aim = aim_of(value, branches, self._nodes)
        self._spend(len(branches))
        if aim.members:
            place = f"{path}/{escaped(aim.key)}"
            says = "must be" if isinstance(value, dict) and aim.key in value else "is missing:"
            return [f"`{place}` {says} {_listed(aim.members)}"], False
        hopeful = self._nodes.hopeful(branches)
        candidates = aim.branches or (() if hopeful is None else (branches[hopeful],))
        if all(self._nodes.at((branch,)).members is not None for branch in candidates):
            told = branches if hopeful is None else candidates
            kinds = self._described(*(self._nodes.at((branch,)) for branch in told))
            return [f"{_place(path)} must be {kinds}"], False
        if len(candidates) == 1:
            return self.about(value, (*at, candidates[0]), path, depth + 1), True
        return self._nearest(value, candidates, at, path, depth), True

    def _nearest(
        self, value: object, branches: tuple[str, ...], at: tuple[str, ...], path: str, depth: int
    ) -> Iterable[str]:
        """The complaints of the branch that has the fewest; where several have, that there are others is said."""
        tried = [found for branch in branches if (found := self._trial(value, (*at, branch), path, depth + 1))]
        if not tried:
            return [f"{_place(path)} must fit one of {len(branches)} alternatives"]
        fewest = min(map(len, tried))
        nearest = list(dict.fromkeys(found for found in tried if len(found) == fewest))
        if len(nearest) == 1 and len(tried) == len(branches):
            return nearest[0]
        if len(tried) == len(branches) and fewest == 1 and len(nearest) <= MOST_JOINED:
            return [_OR.join(found[0] for found in nearest)]
        first, *others = nearest[0]
        if _OR not in first:
            first += f"{_OR}{_place(path)} must fit another of {len(branches)} alternatives"
        return [first, *others]

    def _trial(self, value: object, at: tuple[str, ...], path: str, depth: int) -> tuple[str, ...]:
        found = self._tried.get((path, at))
        if found is None:
            self._trials += 1
            found = tuple(islice(self.about(value, at, path, depth), MOST_COUNTED))
            self._trials -= 1
            self._tried[path, at] = found
        return found

    def _described(self, *nodes: Node) -> str:
        members = [member for node in nodes for member in node.members or ()]
        kinds = dict.fromkeys([_listed(members)] if members else [])
        kinds.update(dict.fromkeys(kind for node in nodes if not node.members for kind in self._kinds(node, 0)))
        if len(kinds) > 1:
            kinds.pop(_ANYTHING, None)
        return " or ".join(islice(kinds, MOST_LISTED)) or _ANYTHING

    def _kinds(self, node: Node, depth: int) -> Iterator[str]:
        if node.members is not None:
            yield _listed(node.members)
        elif node.types:
            yield from (_ARTICLES.get(kind, f"a {kind}") for kind in node.types)
        elif node.unions and depth < DEEPEST_DESCRIBED:
            for branch in node.unions[0][1][:MOST_LISTED]:
                yield from self._kinds(self._nodes.at((branch,)), depth + 1)
        else:
            yield _ANYTHING


_ANYTHING = "a value"
_OR = ", or "


def _place(path: str) -> str:
    return f"`{path}`" if path else "the arguments"


def _listed(members: Sequence[Any]) -> str:
    shown = dict.fromkeys(_shown(member) for member in members[:MOST_LISTED])
    return f"one of {', '.join(shown)}{' …' if len(members) > MOST_LISTED else ''}"


def _broken(value: object, node: Node) -> Iterator[str]:
    """The single rules that `value` doesn't keep to."""
    for _, facet in node.facets:
        for keyword, words in _RULES.items():
            if keyword in facet and not holds(keyword, msgspec.json.encode(facet[keyword]), value):
                yield words.format(_shown(facet[keyword]))


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_RULE else text[: LONGEST_RULE - 1] + "…"
