"""How much work a schema can make of one value, found before it is given any.

References let a few lines stand for millions of checks: twenty definitions that each name the next one twice do.
What leads back to itself through the parts of a value is checked once for each part; what leads back to itself on the
spot has no meaning, and would be followed along every path there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from callgate.vocabulary import UsageError

MOST_CHECKS = 1_000_000
"""For one value; some ten milliseconds."""
LONGEST_WAY = 500
"""From part to part; the validator follows it on the call stack, in time that grows with its square."""
MOST_STRANGE = 12
"""References of which we can't tell where they lead."""
_ON_THE_SPOT = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_OF_ITEMS = ("items", "prefixItems", "contains", "additionalItems", "unevaluatedItems")
_OF_PROPERTIES = ("patternProperties", "unevaluatedProperties", "propertyNames")
_ONE_OF_THESE = ("properties", "additionalProperties")
"""A key has one of them at most."""
_LOOKING_BACK = ("unevaluatedItems", "unevaluatedProperties")
_DEARER = 4
"""Looking back at what others have evaluated makes them evaluate it again, some times."""


def checks_for(root: Any) -> int:
    """The most checks that one value can take.

    Raises: UsageError, if they are too many.
    """
    graph = _Graph(root)
    order: dict[int, int] = {}
    for group in _groups(graph, [graph.here]):
        members = set(group)
        if any(sum(target in members for target in graph.here[part]) > 1 for part in group):
            raise UsageError("the schema refers to itself over and over, without ever coming to a value")
        order.update((part, len(order)) for part in group)
    costs: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for group in _groups(graph, [graph.here, graph.items, graph.keys, graph.more_keys]):
        members = set(group)
        length = 1 + max((lengths.get(target, 0) for part in group for target in graph.onward(part)), default=0)
        if length > LONGEST_WAY:
            raise UsageError("the references of the schema lead from one to the next without end")
        lengths.update(dict.fromkeys(group, length))
        for part in sorted(group, key=order.__getitem__):
            costs[part] = _cost(graph, part, members, costs)
            if costs[part] > MOST_CHECKS:
                raise UsageError("the schema would take too long to check a value by: its references multiply")
    return costs.get(id(root), 1)


def _cost(graph: _Graph, part: int, members: set[int], costs: dict[int, int]) -> int:
    def inside(target: int) -> int:
        return 1 if target in members else costs[target]

    schema = graph.schemas[part]
    here = sum(costs.get(target, 1) for target in graph.here[part])
    dearer = _DEARER if any(keyword in schema for keyword in _LOOKING_BACK) else 1
    items = sum(map(inside, graph.items[part]))
    keys = max(map(inside, graph.keys[part]), default=0) + sum(map(inside, graph.more_keys[part]))
    return 1 + here * dearer + max(items, keys)


class _Graph:
    """Which subschemas lead to which: on the spot, to items, to the values of keys."""

    def __init__(self, root: Any) -> None:
        self.schemas: dict[int, dict[str, Any]] = {}
        self.here: dict[int, list[int]] = {}
        self.items: dict[int, list[int]] = {}
        self.keys: dict[int, list[int]] = {}
        self.more_keys: dict[int, list[int]] = {}
        self._root = root
        self._names: dict[str, dict[str, Any]] = {}
        self._strange = 0
        self._name(root)
        waiting = [root]
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in self.schemas:
                continue
            self.schemas[id(schema)] = schema
            found = [
                [part for keyword in _ON_THE_SPOT for part in _parts(schema, keyword)] + list(self._targets(schema)),
                [part for keyword in _OF_ITEMS for part in _parts(schema, keyword)],
                [part for keyword in _ONE_OF_THESE for part in _parts(schema, keyword)],
                [part for keyword in _OF_PROPERTIES for part in _parts(schema, keyword)],
            ]
            edges = (self.here, self.items, self.keys, self.more_keys)
            for kind, parts in zip(edges, found, strict=True):
                kind[id(schema)] = [id(part) for part in parts]
                waiting += parts

    def onward(self, part: int) -> Iterator[int]:
        for edges in (self.here, self.items, self.keys, self.more_keys):
            yield from edges[part]

    def _name(self, root: Any) -> None:
        waiting = [root]
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict):
                for keyword, prefix in (("$anchor", "#"), ("$dynamicAnchor", "#"), ("$id", "")):
                    if isinstance(name := part.get(keyword), str):
                        self._names[prefix + name] = part
                waiting += part.values()
            elif isinstance(part, list):
                waiting += part

    def _targets(self, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for keyword in _REFERENCES:
            reference = schema.get(keyword)
            if not isinstance(reference, str):
                continue
            target = self._names.get(reference) or look_up(self._root, unquote(reference))
            if isinstance(target, dict):
                yield target
            elif target is None:
                self._strange += 1
                if self._strange > MOST_STRANGE:
                    raise UsageError("the schema has too many references that don't lead to a part of it")


def look_up(root: object, pointer: str) -> object:
    """What a pointer such as `#/properties/city` leads to; None, if there is no such thing."""
    if not pointer.startswith("#"):
        return None
    here = root
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and key in here:
            here = here[key]
        elif isinstance(here, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(here):
            here = here[int(key)]
        else:
            return None
    return here


def _parts(schema: dict[str, Any], keyword: str) -> list[dict[str, Any]]:
    """The subschemas under a keyword: one, a list of them, or an object of them."""
    found = schema.get(keyword)
    if isinstance(found, list):
        return [part for part in found if isinstance(part, dict)]
    if not isinstance(found, dict):
        return []
    if keyword in ("properties", "patternProperties", "dependentSchemas"):
        return [part for part in found.values() if isinstance(part, dict)]
    return [found]


def _groups(graph: _Graph, edges: list[dict[int, list[int]]]) -> Iterator[list[int]]:
    """The parts that lead back to each other, together; those that others lead to come first (Tarjan's algorithm)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for start in graph.schemas:
        if start in number:
            continue
        work = [(start, _onward(edges, start))]
        number[start] = low[start] = len(number)
        path.append(start)
        on_path.add(start)
        while work:
            part, onward = work[-1]
            following = next(onward, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[part])
                if low[part] == number[part]:
                    group: list[int] = []
                    while not group or group[-1] != part:
                        group.append(path.pop())
                        on_path.discard(group[-1])
                    yield group
            elif following not in number:
                number[following] = low[following] = len(number)
                path.append(following)
                on_path.add(following)
                work.append((following, _onward(edges, following)))
            elif following in on_path:
                low[part] = min(low[part], number[following])


def _onward(edges: list[dict[int, list[int]]], part: int) -> Iterator[int]:
    for kind in edges:
        yield from kind[part]
