"""A schema with what it refers to and all that must hold at once, as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from callgate.tools.schema_graph import look_up

Schema = dict[str, Any]
_NOWHERE: Mapping[str, Any] = {}
_ELSEWHERE = ("$ref", "allOf", "$defs", "definitions")


class Joiner:
    """Follows the references of one schema. `left` is how many more parts may be looked at: they may multiply."""

    def __init__(self, root: Mapping[str, Any], most_parts: int) -> None:
        self._root = root
        self.left = most_parts

    def joined(self, schema: Mapping[str, Any], inside: tuple[str, ...] = ()) -> tuple[Schema, tuple[str, ...]]:
        """The schema without `$ref` and `allOf`, and the references that led here: `inside`, and those in it.

        A reference that has led back to itself is cut the second time: its type alone is said.
        """
        whole: Schema = {}
        waiting: list[object] = [schema]
        for part in waiting:  # which grows on the way
            self.left -= 1
            if not isinstance(part, Mapping) or self.left < 0:
                continue
            _merge(whole, part)
            waiting += list_of(part.get("allOf"))
            reference = part.get("$ref")
            if not isinstance(reference, str):
                continue
            target = self._at(reference)
            if inside.count(reference) > 1:
                whole.setdefault("type", target.get("type", "object"))
            else:
                inside = (*inside, reference)
                waiting.append(target)
        return whole, inside

    def plain_root(self) -> Schema:
        """The root as one object: what it may have whichever of its alternatives holds, and what it needs in each."""
        whole, inside = self.joined(self._root)
        properties = dict(_properties(whole))
        ways = [self.joined(way, inside)[0] for way in alternatives(whole) if isinstance(way, Mapping)]
        added: dict[str, list[object]] = {}
        for way in ways:
            for name, part in _properties(way).items():
                if name not in properties and part not in added.setdefault(name, []):
                    added[name].append(part)
        properties.update({name: _either(parts) for name, parts in added.items()})
        needed = dict.fromkeys(_texts(whole.get("required")))
        if ways:
            always = set.intersection(*({*_texts(way.get("required"))} for way in ways))
            needed.update(dict.fromkeys(name for name in properties if name in always))
        root: Schema = {"type": "object", "properties": properties}
        if required := [name for name in needed if name in properties]:
            root["required"] = required
        return root

    def _at(self, reference: str) -> Mapping[str, Any]:
        found = look_up(self._root, unquote(reference))
        return found if isinstance(found, Mapping) else _NOWHERE


def alternatives(schema: Mapping[str, Any]) -> list[Any]:
    return [*list_of(schema.get("anyOf")), *list_of(schema.get("oneOf"))]


def list_of(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _merge(whole: Schema, part: Mapping[str, Any]) -> None:
    """What was said first stays; properties, requirements and alternatives add up."""
    for key, value in part.items():
        if key == "properties":
            whole[key] = {**_properties(part), **whole.get(key, {})}
        elif key == "required":
            whole[key] = list(dict.fromkeys([*whole.get(key, ()), *_texts(value)]))
        elif key in ("anyOf", "oneOf"):
            whole[key] = [*whole.get(key, ()), *list_of(value)]
        elif key not in _ELSEWHERE:
            whole.setdefault(key, value)


def _either(parts: list[object]) -> object:
    """One of several schemas; where each is a list of values, one list of all of them."""
    if len(parts) == 1:
        return parts[0]
    listed: list[Any] = []
    for part in parts:
        if not isinstance(part, Mapping) or not part.keys() <= {"const", "enum", "type", "title", "description"}:
            return {"anyOf": parts}
        values = [part["const"]] if "const" in part else list_of(part.get("enum"))
        if not values:
            return {"anyOf": parts}
        listed += [value for value in values if value not in listed]
    kinds = [part["type"] for part in parts if isinstance(part, Mapping) and "type" in part]
    one_kind = len(kinds) == len(parts) and all(kind == kinds[0] for kind in kinds)
    return {"type": kinds[0], "enum": listed} if one_kind else {"enum": listed}


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [one for one in list_of(value) if isinstance(one, str)]
