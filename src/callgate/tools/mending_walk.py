"""One walk through arguments along their schema, which changes what doesn't fit and can only mean one thing."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from callgate.tools.coercions import (
    NOTHING,
    boolean_in,
    folded_key,
    folded_text,
    member_in,
    null_in,
    number_in,
    text_of,
)
from callgate.tools.encoded import Decoded, decoded
from callgate.tools.plain_values import escaped, same
from callgate.tools.schema_nodes import Node, nodes_of
from callgate.tools.validators import Schema
from callgate.vocabulary import Repair

DEEPEST_MENDED = 60
"""Levels of the arguments and of the unions that they pass. What lies deeper is validated, not mended."""
MOST_STEPS = 250_000
"""Values looked at, in whichever branch of a union; a second or two."""
FEWEST_STEPS = 20_000
"""That there are for small arguments, too: unions of unions would multiply them without end."""
STEPS_PER_VALUE = 10
"""That there are for large ones, up to the most."""
LONG = 1000
"""Characters that cost as much as a value."""

_SEVERAL = re.compile(r"[,;\n]|\A\s*(?:\[|\Z)")
"""What may be more than one value, or none."""

Mended = tuple[Any, tuple[Repair, ...]]


class TooMuch(Exception):
    """Mending would take too long."""


class Walk:
    """Never touches a value that fits."""

    def __init__(self, schema: Schema, size: int) -> None:
        """`size` is how many values there are to be mended."""
        self._schema = schema
        self._left = min(MOST_STEPS, FEWEST_STEPS + STEPS_PER_VALUE * schema.step * size)
        self._known: set[str] = set()
        """The parts of the schema that were asked before."""
        self._wrapped: set[str] = set()
        """Where an item stands that was just put into an array: not in another one as well."""
        self._unions = 0
        """How many are being tried, each within a branch of the one before."""
        self._tried: dict[tuple[object, ...], tuple[Any, Mended]] = {}
        """What came of values within unions, of which other branches may ask the same again."""
        self._texts: dict[str, Decoded] = {}
        self._spellings: dict[tuple[str, ...], dict[str, list[Any]]] = {}
        self.nodes = nodes_of(schema)

    def mend(
        self,
        value: Any,
        at: tuple[str, ...] = ("#",),
        path: str = "",
        depth: int = 0,
        chosen: frozenset[str] = frozenset(),
    ) -> Mended:
        """`value`, changed to fit the subschemas `at`, and what was changed; as it was, if that can't be done.

        `chosen` are the unions of which a branch is already in `at`.
        """
        self._spend(self._schema.step * len(at) + (len(value) // LONG if isinstance(value, str) else 0))
        if self._fits(at, value) or depth > DEEPEST_MENDED:
            return value, ()
        if not self._unions or not isinstance(value, dict | list):
            return self._mended(value, at, path, depth, chosen)
        key = (id(value), at, path, path in self._wrapped)
        known = self._tried.get(key)
        if known is None:  # the value is kept as well: as long as it is, nothing else has its identity
            known = self._tried[key] = (value, self._mended(value, at, path, depth, chosen))
        return known[1]

    def _mended(self, value: Any, at: tuple[str, ...], path: str, depth: int, chosen: frozenset[str]) -> Mended:
        node = self.nodes.at(at)
        for where, branches in node.unions:
            if where not in chosen:
                return self._in_union(value, where, branches, at, path, depth, chosen)
        if node.members is not None:
            return self._accepted(value, self._member(value, at, node.members), "enum", at, path)
        if len(node.types) > 1:
            ways = [self._as_kind(kind, value, node, at, path, depth, chosen) for kind in node.types]
            more = [number for number, kind in enumerate(node.types) if kind != "null"]
            return self._only(value, ways, at, hopeful=more[0] if len(more) == 1 else None)
        return self._as_kind(node.types[0] if node.types else "", value, node, at, path, depth, chosen)

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooMuch

    def _fits(self, at: tuple[str, ...], value: Any) -> bool:
        for pointer in at:
            if pointer not in self._known:
                self._known.add(pointer)
                self._spend(self._schema.dearness(pointer))
        return self._schema.is_valid_at(at, value)

    def _in_union(
        self,
        value: Any,
        where: str,
        branches: tuple[str, ...],
        at: tuple[str, ...],
        path: str,
        depth: int,
        chosen: frozenset[str],
    ) -> Mended:
        self._spend(len(branches) * _size(value))
        fitting = tuple(branch for branch in branches if self._fits((branch,), value))
        tried = fitting or branches
        self._unions += 1
        ways = [self.mend(value, (*at, branch), path, depth + 1, chosen | {where}) for branch in tried]
        self._unions -= 1
        return self._only(value, ways, at, hopeful=None if fitting else self.nodes.hopeful(branches))

    def _only(self, value: Any, ways: list[Mended], at: tuple[str, ...], *, hopeful: int | None) -> Mended:
        """The one way that leads to a value that fits; else the hopeful one, which may have come part of the way."""
        found: list[Mended] = []
        for way in ways:
            if self._fits(at, way[0]) and not any(same(way[0], other) for other, _ in found):
                found.append(way)
        if len(found) > 1:  # one value is rather that than an array of it
            found = [way for way in found if not any(change.rule == "array" for change in way[1][:1])]
        if found:
            return found[0] if len(found) == 1 else (value, ())
        return (value, ()) if hopeful is None else ways[hopeful]

    def _member(self, value: Any, at: tuple[str, ...], members: tuple[Any, ...]) -> Any:
        """The one member of an enumeration that differs from `value` in case, white space or quotes alone."""
        known = self._spellings.get(at)
        if known is None:
            self._spend(len(members) // 10)
            known = self._spellings[at] = {}
            for member in members:
                known.setdefault(folded_text(member), []).append(member)
        return member_in(value, known)

    def _accepted(self, value: Any, found: Any, rule: str, at: tuple[str, ...], path: str) -> Mended:
        if found is NOTHING or not self._fits(at, found):
            return value, ()
        return found, (Repair(path, value, found, rule),)

    def _as_kind(
        self, kind: str, value: Any, node: Node, at: tuple[str, ...], path: str, depth: int, chosen: frozenset[str]
    ) -> Mended:
        match kind, value:
            case (("integer" | "number"), str()):
                return self._accepted(value, number_in(value, whole=kind == "integer"), "number", at, path)
            case "boolean", str():
                return self._accepted(value, boolean_in(value), "boolean", at, path)
            case "null", str():
                return self._accepted(value, null_in(value), "null-text", at, path)
            case "string", int():
                return self._accepted(value, text_of(value), "text", at, path)
            case (("object" | ""), dict()):
                return self._in_object(value, node, path, depth)
            case (("array" | ""), list()):
                return self._in_array(value, node, path, depth)
            case "object", str():
                return self._decoded(value, dict, at, path, depth, chosen)
            case "array", str():
                inside = self._decoded(value, list, at, path, depth, chosen)
                return inside if inside[1] or _SEVERAL.search(value) else self._array_of(value, at, path, depth, chosen)
            case "array", (dict() | int() | float()):
                return self._array_of(value, at, path, depth, chosen)
        return value, ()

    def _decoded(
        self, text: str, kind: type, at: tuple[str, ...], path: str, depth: int, chosen: frozenset[str]
    ) -> Mended:
        """The object or array that a text encodes."""
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = decoded(text)
        if not isinstance(found.value, kind):
            return text, ()
        value, more = self.mend(found.value, at, path, depth, chosen)
        return value, (Repair(path, text, found.value, found.rule), *more)

    def _array_of(self, value: Any, at: tuple[str, ...], path: str, depth: int, chosen: frozenset[str]) -> Mended:
        if path in self._wrapped:
            return value, ()
        self._wrapped.add(f"{path}/0")
        whole, more = self.mend([value], at, path, depth, chosen)
        self._wrapped.discard(f"{path}/0")
        if not self._fits(at, whole):
            return value, ()
        return whole, (Repair(path, value, [value], "array"), *more)

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
        self._spend(len(value) * node.dearness)
        strangers = _strangers(value, node)
        for key, item in value.items():
            name = strangers.get(key, key)
            here = f"{path}/{escaped(key)}"
            if name is None:
                repairs.append(Repair(here, item, None, "stray-key"))
                continue
            if name != key:
                repairs.append(Repair(here, key, name, "key"))
                here = f"{path}/{escaped(name)}"
            at = node.at_key(name)
            if item is None and name not in node.required and not self._fits(at, None):
                repairs.append(Repair(here, None, None, "null"))
                continue
            found[name], more = self.mend(item, at, here, depth + 1) if at else (item, ())
            repairs += more
        return (found, tuple(repairs)) if repairs else (value, ())


def _strangers(value: dict[str, Any], node: Node) -> dict[str, str | None]:
    """What keys mean that are no properties: the unset property that they spell in another way, or nothing allowed."""
    strangers = [key for key in value if key not in node.properties]
    forbidden = {key for key in strangers if node.forbids(key)}
    missing = node.required - value.keys()
    if not forbidden and not (strangers and missing):
        return {}
    unset: dict[str, list[str]] = {}
    for name in node.properties:
        if name not in value and (spelling := folded_key(name)):
            unset.setdefault(spelling, []).append(name)
    spellings = Counter(map(folded_key, strangers))
    found: dict[str, str | None] = {}
    for key in strangers:
        spelling = folded_key(key)
        names = unset.get(spelling, [])
        if len(names) == 1 and spellings[spelling] == 1 and (key in forbidden or names[0] in missing):
            found[key] = names[0]
        elif key in forbidden:
            found[key] = None
    return found


def _size(value: object) -> int:
    match value:
        case dict():
            return 1 + sum(map(_size, value.values()))
        case list():
            return 1 + sum(map(_size, value))
    return 1
