"""Which parts of a schema lead to which: on the spot, to items, to the values of keys, wherever a reference leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from callgate.vocabulary import UsageError

MOST_STRANGE = 12
"""References of which we can't tell where they lead."""
_ON_THE_SPOT = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_OF_ITEMS = ("items", "prefixItems", "contains", "additionalItems", "unevaluatedItems")
_OF_PROPERTIES = ("patternProperties", "unevaluatedProperties", "propertyNames")
_ONE_OF_THESE = ("properties", "additionalProperties")
"""A key has one of them at most."""


class Graph:
    """Which subschemas lead to which: on the spot, to items, to the values of keys."""

    def __init__(self, root: Any) -> None:
        self.schemas: dict[int, dict[str, Any]] = {}
        self.here: dict[int, list[int]] = {}
        self.items: dict[int, list[int]] = {}
        self.keys: dict[int, list[int]] = {}
        self.more_keys: dict[int, list[int]] = {}
        self.root = root
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
                [part for keyword in _ON_THE_SPOT if keyword in schema for part in _parts(schema, keyword)]
                + list(self._targets(schema)),
                [part for keyword in _OF_ITEMS if keyword in schema for part in _parts(schema, keyword)],
                [part for keyword in _ONE_OF_THESE if keyword in schema for part in _parts(schema, keyword)],
                [part for keyword in _OF_PROPERTIES if keyword in schema for part in _parts(schema, keyword)],
            ]
            edges = (self.here, self.items, self.keys, self.more_keys)
            for kind, parts in zip(edges, found, strict=True):
                kind[id(schema)] = [id(part) for part in parts]
                waiting += parts

    def onward(self, part: int) -> Iterator[int]:
        for edges in (self.here, self.items, self.keys, self.more_keys):
            yield from edges[part]

    def reach(self, start: object, most: int) -> Iterator[dict[str, Any]]:
        """The parts that `start` leads to, itself included; no more than `most`."""
        waiting, seen = [id(start)], set[int]()
        while waiting and len(seen) < most:
            part = waiting.pop()
            if part in seen or part not in self.schemas:
                continue
            seen.add(part)
            yield self.schemas[part]
            waiting += self.onward(part)

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
            target = self._names.get(reference) or look_up(self.root, unquote(reference))
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
        if isinstance(here, dict | Mapping) and key in here:
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
