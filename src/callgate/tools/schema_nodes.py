"""What a schema asks of one value, gathered from all the places that speak about it: `$ref`, `allOf`, siblings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from callgate.tools.plain_values import escaped, same
from callgate.tools.schema_graph import look_up
from callgate.tools.validators import Schema, key_matches

MOST_FACETS = 100
MOST_NODES = 5_000
"""Kept for the next call; unions can make any number of them."""
_ELSEWHERE = ("if", "then", "else", "dependentSchemas", "$dynamicRef", "$recursiveRef")
_TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})


class Node(msgspec.Struct, frozen=True):
    """One place of the arguments, as the schema sees it."""

    facets: tuple[tuple[str, dict[str, Any]], ...]
    """Every subschema that must hold here, by its pointer."""
    types: tuple[str, ...]
    """Those allowed; none, if nothing is said."""
    members: tuple[Any, ...] | None
    """Of the enumeration, if there is one."""
    unions: tuple[tuple[str, tuple[str, ...]], ...]
    """`anyOf` and `oneOf`: where it stands, and its branches."""
    properties: dict[str, tuple[str, ...]]
    required: frozenset[str]

    closed: bool
    """Whether some subschema allows no other properties than those that it names."""
    spread: bool
    """Whether subschemas hold for keys that are named nowhere: by pattern, or for all that remain."""
    dearness: int
    """What it takes to find the subschemas of one key."""

    def at_key(self, key: str) -> tuple[str, ...]:
        """The subschemas that hold for the value of a key."""
        if self.spread:
            return tuple(self._at_key(key))
        return self.properties.get(key, ())

    def _at_key(self, key: str) -> Iterator[str]:
        for pointer, schema in self.facets:
            declared = False
            if key in _mapping(schema, "properties"):
                yield f"{pointer}/properties/{escaped(key)}"
                declared = True
            for pattern in _mapping(schema, "patternProperties"):
                if key_matches(pattern, key):
                    yield f"{pointer}/patternProperties/{escaped(pattern)}"
                    declared = True
            if not declared and isinstance(schema.get("additionalProperties"), dict):
                yield f"{pointer}/additionalProperties"

    def forbids(self, key: str) -> bool:
        """Whether a key may not be there at all, and nothing else asks for it."""
        if not self.closed or key in self.properties:
            return False
        return any(
            _is_closed(schema)
            and not any(key_matches(pattern, key) for pattern in _mapping(schema, "patternProperties"))
            for _, schema in self.facets
        )

    def at_item(self, index: int) -> tuple[str, ...]:
        """The subschemas that hold for one item of an array."""
        found = []
        for pointer, schema in self.facets:
            first = schema.get("prefixItems")
            items = schema.get("items")
            first, key = (first, "prefixItems") if isinstance(first, list) else (items, "items")
            if isinstance(first, list) and index < len(first):
                found.append(f"{pointer}/{key}/{index}")
            elif isinstance(items, dict):
                found.append(f"{pointer}/items")
        return tuple(found)


def nodes_of(schema: Schema) -> Nodes:
    """What `schema` says in each place, kept with it."""
    if schema.nodes is None:
        schema.nodes = Nodes(schema)
    return schema.nodes


class Nodes:
    """The nodes of one schema, each made when it is first asked for."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._made: dict[tuple[str, ...], Node] = {}
        self._names: frozenset[str] | None = None

    def at(self, pointers: tuple[str, ...]) -> Node:
        """Everything that the subschemas at `pointers` say together."""
        node = self._made.get(pointers)
        if node is None:
            if len(self._made) > MOST_NODES:
                self._made.clear()
            node = self._made[pointers] = _node(self._schema, pointers)
        return node

    def names(self) -> frozenset[str]:
        """The properties of the whole, in whichever branch."""
        if self._names is None:
            whole = self.at(("#",))
            branches = [self.at((branch,)) for _, branches in whole.unions for branch in branches[:MOST_FACETS]]
            self._names = frozenset().union(*(node.properties for node in (whole, *branches)))
        return self._names

    def hopeful(self, branches: tuple[str, ...]) -> int | None:
        """The one branch of a union that is more than null, if the others are."""
        more = [number for number, branch in enumerate(branches) if self.at((branch,)).types != ("null",)]
        return more[0] if len(more) == 1 else None


def _node(schema: Schema, pointers: tuple[str, ...]) -> Node:
    facets = _expanded(schema, pointers)
    types: list[str] | None = None
    members: list[Any] | None = None
    properties: dict[str, tuple[str, ...]] = {}
    required: set[str] = set()
    unions = []
    for pointer, facet in facets:
        if (said := _types(facet)) is not None:
            types = said if types is None else _both(types, said)
        listed = [facet["const"]] if "const" in facet else facet.get("enum")
        if isinstance(listed, list):
            members = (
                listed
                if members is None
                else [member for member in members if any(same(member, other) for other in listed)]
            )
        for key in _mapping(facet, "properties"):
            properties[key] = (*properties.get(key, ()), f"{pointer}/properties/{escaped(key)}")
        names = facet.get("required")
        required.update(name for name in names if isinstance(name, str)) if isinstance(names, list) else None
        for keyword in ("anyOf", "oneOf"):
            branches = facet.get(keyword)
            if isinstance(branches, list) and branches:
                where = f"{pointer}/{keyword}"
                unions.append((where, tuple(f"{where}/{number}" for number in range(len(branches)))))
    return Node(
        tuple(facets),
        tuple(types or ()),
        None if members is None else tuple(members),
        tuple(unions),
        properties,
        frozenset(required),
        closed=any(_is_closed(facet) for _, facet in facets) and not _hides_some(facets),
        spread=any(
            "patternProperties" in facet or isinstance(facet.get("additionalProperties"), dict) for _, facet in facets
        ),
        dearness=len(facets) + 10 * sum(len(_mapping(facet, "patternProperties")) for _, facet in facets),
    )


def _is_closed(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False


def _hides_some(facets: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether something that we don't look into may speak of properties that nothing else names."""
    return any("unevaluatedProperties" in facet for _, facet in facets) and any(
        keyword in facet for _, facet in facets for keyword in _ELSEWHERE
    )


def _expanded(schema: Schema, pointers: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    waiting, seen = list(reversed(pointers)), set()
    found: list[tuple[str, dict[str, Any]]] = []
    while waiting and len(found) < MOST_FACETS:
        pointer = waiting.pop()
        if pointer in seen or not schema.has(pointer):
            continue
        seen.add(pointer)
        facet = look_up(schema.root, pointer)
        if not isinstance(facet, dict):
            continue
        found.append((pointer, facet))
        every = facet.get("allOf")
        if isinstance(every, list):
            waiting.extend(f"{pointer}/allOf/{number}" for number in reversed(range(len(every))))
        target = facet.get("$ref")
        if isinstance(target, str) and target.startswith("#") and not schema.has_scopes:
            waiting.append(unquote(target))
    return found


def _types(facet: dict[str, Any]) -> list[str] | None:
    said = facet.get("type")
    if isinstance(said, str):
        return [said]
    return [kind for kind in said if kind in _TYPES] if isinstance(said, list) else None


def _both(some: list[str], others: list[str]) -> list[str]:
    both = [kind for kind in some if kind in others]
    if "integer" not in both and {"integer", "number"} <= {*some, *others}:
        both.append("integer")
    return both


def _mapping(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}
