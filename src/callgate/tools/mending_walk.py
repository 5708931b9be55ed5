"""One walk through arguments along their schema, which changes what doesn't fit and can only mean one thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callgate.tools.coercions import NOTHING, boolean_in, key_for, member_for, null_in, number_in, text_of
from callgate.tools.loose_json import read_loosely
from callgate.tools.schema_nodes import Node, node_at
from callgate.tools.validators import Schema
from callgate.vocabulary import Repair

DEEPEST_MENDED = 40
"""Levels of the arguments. What lies deeper is validated, not mended."""
MOST_STEPS = 100_000
"""Values looked at in one walk: unions of unions would multiply them without end."""
_TWICE = 3
"""JSON within JSON within JSON: that many."""

Mended = tuple[Any, tuple[Repair, ...]]


class TooMuch(Exception):
    """Mending would take too long."""


class Walk:
    """Never touches a value that fits, so that walking twice changes nothing."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._nodes: dict[tuple[str, ...], Node] = {}
        self._steps = 0

    def node(self, at: tuple[str, ...]) -> Node:
        found = self._nodes.get(at)
        if found is None:
            found = self._nodes[at] = node_at(self._schema, at)
        return found

    def mend(
        self,
        value: Any,
        at: tuple[str, ...] = ("#",),
        path: str = "",
        depth: int = 0,
        chosen: frozenset[str] = frozenset(),
    ) -> Mended:
        """`value`, changed to fit the subschemas `at`, and what was changed; as it was, if that can't be done.

        `chosen` are the unions of which one branch is already in `at`.
        """
        if self._fits(value, at):
            return value, ()
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooMuch
        node = self.node(at)
        if depth > DEEPEST_MENDED:
            return value, ()
        for where, branches in node.unions:
            if where not in chosen:
                ways = (self.mend(value, (*at, branch), path, depth, chosen | {where}) for branch in branches)
                return self._only(value, ways, at, hopeful=self._hopeful(branches))
        if node.members is not None:
            return self._accepted(value, member_for(value, node.members), "enum", at, path)
        if len(node.types) > 1:
            kinds = (self._as_kind(kind, value, node, at, path, depth) for kind in node.types)
            hopeful = [number for number, kind in enumerate(node.types) if kind != "null"]
            return self._only(value, kinds, at, hopeful=hopeful[0] if len(hopeful) == 1 else None)
        return self._as_kind(node.types[0] if node.types else "", value, node, at, path, depth)

    def _fits(self, value: object, at: tuple[str, ...]) -> bool:
        return all(self._schema.is_valid_at(pointer, value) for pointer in at)

    def _hopeful(self, branches: tuple[str, ...]) -> int | None:
        """The one branch that is more than null: what doesn't fit it wholly may still be mended in part."""
        more = [number for number, branch in enumerate(branches) if self.node((branch,)).types != ("null",)]
        return more[0] if len(more) == 1 else None

    def _only(self, value: Any, ways: Iterator[Mended], at: tuple[str, ...], *, hopeful: int | None) -> Mended:
        """The one way that leads to a value that fits."""
        found: list[Mended] = []
        fallback: Mended = value, ()
        for number, way in enumerate(ways):
            if number == hopeful:
                fallback = way
            if self._fits(way[0], at) and not any(_same(way[0], other) for other, _ in found):
                found.append(way)
        if len(found) == 1:
            return found[0]
        return (value, ()) if found else fallback

    def _accepted(self, value: Any, found: Any, rule: str, at: tuple[str, ...], path: str) -> Mended:
        if found is NOTHING or not self._fits(found, at):
            return value, ()
        return found, (Repair(path, value, found, rule),)

    def _as_kind(self, kind: str, value: Any, node: Node, at: tuple[str, ...], path: str, depth: int) -> Mended:
        match kind, value:
            case (("integer" | "number"), str()):
                return self._accepted(value, number_in(value, whole=kind == "integer"), "number", at, path)
            case "boolean", str():
                return self._accepted(value, boolean_in(value), "boolean", at, path)
            case "null", str():
                return self._accepted(value, null_in(value), "null", at, path)
            case "string", int():
                return self._accepted(value, text_of(value), "text", at, path)
            case (("object" | ""), dict()):
                return self._in_object(value, node, path, depth)
            case (("array" | ""), list()):
                return self._in_array(value, node, path, depth)
            case "object", str():
                return self._decoded(value, dict, at, path, depth)
            case "array", _:
                return self._made_array(value, at, path, depth)
        return value, ()

    def _decoded(self, value: str, kind: type, at: tuple[str, ...], path: str, depth: int) -> Mended:
        """The object or array that a text encodes."""
        found, rules = decoded(value)
        if not isinstance(found, kind):
            return value, ()
        whole, more = self.mend(found, at, path, depth)
        return whole, (Repair(path, value, found, _encoded(rules)), *more)

    def _made_array(self, value: Any, at: tuple[str, ...], path: str, depth: int) -> Mended:
        if isinstance(value, str):
            mended, repairs = self._decoded(value, list, at, path, depth)
            if repairs or value.lstrip()[:1] in ("", "["):
                return mended, repairs
        if value is None:
            return value, ()
        whole, more = self.mend([value], at, path, depth)
        return (whole, (Repair(path, value, [value], "array"), *more)) if self._fits(whole, at) else (value, ())

    def _in_array(self, value: list[Any], node: Node, path: str, depth: int) -> Mended:
        items: list[Any] = []
        repairs: list[Repair] = []
        for index, item in enumerate(value):
            at = node.at_item(index)
            mended, more = self.mend(item, at, f"{path}/{index}", depth + 1) if at else (item, ())
            items.append(mended)
            repairs += more
        return (items, tuple(repairs)) if repairs else (value, ())

    def _in_object(self, value: dict[str, Any], node: Node, path: str, depth: int) -> Mended:
        found: dict[str, Any] = {}
        repairs: list[Repair] = []
        for key, item in value.items():
            here = f"{path}/{_escaped(key)}"
            name = self._meant(key, value, node)
            if name != key:
                repairs.append(Repair(here, key, name, "key"))
                here = f"{path}/{_escaped(name)}"
            elif node.forbids(key):
                repairs.append(Repair(here, item, None, "stray-key"))
                continue
            at = node.at_key(name)
            if item is None and name not in node.required and not self._fits(None, at):
                repairs.append(Repair(here, None, None, "null"))
                continue
            found[name], more = self.mend(item, at, here, depth + 1) if at else (item, ())
            repairs += more
        return (found, tuple(repairs)) if repairs else (value, ())

    def _meant(self, key: str, value: dict[str, Any], node: Node) -> str:
        """The property that is unset and that `key`, which is none, spells in another way."""
        if key in node.properties or not (node.forbids(key) or node.required - value.keys()):
            return key
        name = key_for(key, (name for name in node.properties if name not in value))
        rivals = [other for other in value if other not in node.properties and name and key_for(other, [name])]
        if name is None or len(rivals) > 1 or not (node.forbids(key) or name in node.required):
            return key
        return name


def decoded(text: str) -> tuple[object, tuple[str, ...]]:
    """What a text of JSON encodes, also if it encodes a text of JSON, and what had to be overlooked."""
    value: object = text
    rules: list[str] = []
    for _ in range(_TWICE):
        if not isinstance(value, str) or (loose := read_loosely(value)) is None:
            break
        value = loose.value
        rules += loose.rules
    return value, tuple(dict.fromkeys(rules))


def _encoded(rules: tuple[str, ...]) -> str:
    return malformed(rules) if rules else "encoded-json"


def malformed(rules: tuple[str, ...]) -> str:
    return f"malformed-json: {', '.join(rules)}"


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
