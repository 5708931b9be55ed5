"""A tool's JSON Schema, closed and bounded: what is left of it can be written, ends, and is valid.

References are written out, and recursion is cut where it may be. Of keywords that no grammar can hold (`not`, `if`,
`contains` and the like) nothing is kept: a call that breaks them is told to the model like any other mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.gate.emulation.expressions import MOST_REPEATS
from callgate.gate.emulation.joining import Schema, joined
from callgate.gate.emulation.leaves import count_in, is_of, kinds_of, number_of, text_of
from callgate.gate.emulation.numerals import ANY_NUMBER
from callgate.gate.emulation.shapes import (
    NOTHING,
    NULL,
    TRUTH,
    Choice,
    Entries,
    Field,
    Fixed,
    Literals,
    Record,
    Rows,
    Shape,
    Words,
    choice,
    longest,
)

DEEPEST = 12
MOST_PARTS = 3000
MOST_TURNS = 2
"""How often a reference may lie within itself."""
LONGEST_KEY = 40


class Bounds(msgspec.Struct, frozen=True):
    """How much there may be of what the schema itself doesn't bound."""

    text: int
    """Characters of a text; those of an array share them."""
    items: int


def closed(schema: Schema, characters: int, *, longest_text: int) -> Shape:
    """The shape of arguments that fit into so many characters, as far as the schema's own minimums let them."""
    text, items = min(longest_text, max(16, characters)), 16
    while True:
        shape = _Closer(schema, Bounds(text, items)).arguments()
        if (text <= 16 and items <= 2) or longest(shape) <= characters:
            return shape
        text, items = max(16, text * 7 // 10), max(2, items * 4 // 5)


class _Closer:
    def __init__(self, root: Schema, bounds: Bounds) -> None:
        self._root = root
        self._bounds = bounds
        self._parts = 0
        self._turns: dict[str, int] = {}

    def arguments(self) -> Shape:
        found = self.shape({**self._root, "type": "object"}, self._bounds.text, 0)
        return NOTHING if found is None else found

    def shape(self, schema: object, text: int, depth: int) -> Shape | None:
        """`None`, if there is nothing that fits, or it would go too deep."""
        self._parts += 1
        if schema is False or depth > DEEPEST or self._parts > MOST_PARTS:
            return None
        if not isinstance(schema, Mapping):
            return self._anything(text, depth)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._referred(reference, schema, text, depth)
        if isinstance(parts := schema.get("allOf"), list | tuple):
            whole: Schema = {key: value for key, value in schema.items() if key != "allOf"}
            for part in parts:
                if part is False:
                    return None
                whole = joined(whole, self._resolved(part))
            return self.shape(whole, text, depth + 1)
        for key in ("anyOf", "oneOf"):
            if isinstance(options := schema.get(key), list | tuple):
                base = {name: value for name, value in schema.items() if name != key}
                joint = [joined(base, option) if isinstance(option, Mapping) else option and base for option in options]
                return self._one_of(joint, text, depth)
        return self._plain(schema, text, depth)

    def _one_of(self, options: list[Any], text: int, depth: int) -> Shape | None:
        found: list[Shape] = []
        for option in options:
            shape = self.shape(option, text, depth + 1)
            if shape is not None and shape not in found:
                found.append(shape)
        return choice(found) if found else None

    # --- references ---

    def _referred(self, reference: str, schema: Schema, text: int, depth: int) -> Shape | None:
        turns = self._turns.get(reference, 0)
        if turns >= MOST_TURNS:
            return None
        target = self._target(reference)
        if target is None:
            return self._anything(text, depth)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if isinstance(target, Mapping):
            target = joined(target, beside)
        self._turns[reference] = turns + 1
        try:
            return self.shape(target, text, depth + 1)
        finally:
            self._turns[reference] = turns

    def _target(self, reference: str) -> Any:
        """What a reference within the schema means; `None`, if nothing."""
        if not reference.startswith("#"):
            return None
        place: Any = self._root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place, Mapping) and name in place:
                place = place[name]
            elif isinstance(place, list | tuple) and name.isdecimal() and int(name) < len(place):
                place = place[int(name)]
            else:
                return None
        return place

    def _resolved(self, part: object) -> Schema:
        """A part of an `allOf`: a reference in it is followed once, for it has to be read together with the others."""
        if not isinstance(part, Mapping):
            return {}
        if not isinstance(reference := part.get("$ref"), str):
            return part
        self._parts += 1
        target = self._target(reference)
        beside = {key: value for key, value in part.items() if key != "$ref"}
        if not isinstance(target, Mapping) or "$ref" in target or self._parts > MOST_PARTS:
            return beside
        return joined(target, beside)

    # --- the plain kinds ---

    def _plain(self, schema: Schema, text: int, depth: int) -> Shape | None:
        kinds = kinds_of(schema)
        if "const" in schema:
            return Literals((schema["const"],)) if is_of(schema["const"], kinds) else None
        if isinstance(values := schema.get("enum"), list | tuple):
            fitting = tuple(value for value in values if is_of(value, kinds))
            return Literals(fitting) if fitting else None
        if not kinds:
            return self._anything(text, depth)
        found = [shape for kind in kinds if (shape := self._of_kind(kind, schema, text, depth)) is not None]
        return choice(found) if found else None

    def _of_kind(self, kind: str, schema: Schema, text: int, depth: int) -> Shape | None:
        match kind:
            case "string":
                return text_of(schema, text)
            case "integer" | "number":
                return number_of(kind, schema)
            case "boolean":
                return TRUTH
            case "null":
                return NULL
            case "array":
                return self._array(schema, text, depth)
            case "object":
                return self._object(schema, text, depth)
        return None

    def _anything(self, text: int, depth: int) -> Shape:
        plain: list[Shape] = [Words(0, text), TRUTH, NULL, ANY_NUMBER]
        if depth < 3:
            simple = Choice(tuple(plain))
            some = min(self._bounds.items, 8)
            return Choice((*plain, Rows(simple, 0, some), Entries(Words(1, LONGEST_KEY), simple, 0, some)))
        return Choice(tuple(plain))

    def _array(self, schema: Schema, text: int, depth: int) -> Shape | None:
        fewest = min(count_in(schema, "minItems") or 0, MOST_REPEATS)
        most = count_in(schema, "maxItems")
        most = max(fewest, min(self._bounds.items, self._bounds.items if most is None else most))
        prefix = schema.get("prefixItems")
        items = schema.get("items", True)
        if isinstance(items, list):
            prefix, items = items, schema.get("additionalItems", True)
        if isinstance(prefix, list) and prefix:
            places = [self.shape(one, text // len(prefix), depth + 1) for one in prefix]
            if any(place is None for place in places):
                return None
            while len(places) < fewest:
                places.append(self.shape(items, text // fewest, depth + 1))
            return Fixed(tuple(place for place in places if place is not None))
        share = max(16, text // max(1, most))
        item = self.shape(items, share, depth + 1)
        if item is None:
            return Rows(TRUTH, 0, 0) if fewest == 0 else None
        unique = schema.get("uniqueItems") is True
        if unique and isinstance(item, Literals):
            most = max(fewest, min(most, len(item.values)))
        return Rows(item, fewest, most, unique)

    def _object(self, schema: Schema, text: int, depth: int) -> Shape | None:
        properties = schema.get("properties")
        others = schema.get("additionalProperties", True)
        required = _names(schema.get("required"))
        if isinstance(dependent := schema.get("dependentRequired"), Mapping):
            required = required.union(*map(_names, dependent.values()))
        wanted: dict[str, Any] = dict(properties) if isinstance(properties, Mapping) else {}
        if others is not False:
            wanted |= {name: others for name in sorted(required) if name not in wanted}
        if not wanted:
            # Of a tool, or with a list of properties that is empty, it means that there are none.
            are_meant = "additionalProperties" in schema or (depth > 0 and properties is None)
            is_open = others is not False and (are_meant or "patternProperties" in schema or "minProperties" in schema)
            return self._entries(schema, others, text, depth) if is_open else NOTHING
        fields: list[Field] = []
        for name, asked in wanted.items():
            shape = self.shape(asked, text, depth + 1)
            if shape is not None:
                fields.append(Field(name, shape, name in required))
            elif name in required:
                return None
        return Record(_ordered(fields, count_in(schema, "minProperties") or 0, count_in(schema, "maxProperties")))

    def _entries(self, schema: Schema, others: object, text: int, depth: int) -> Shape | None:
        key: Shape | None = Words(1, LONGEST_KEY)
        by_pattern = schema.get("patternProperties")
        if isinstance(by_pattern, Mapping) and by_pattern:
            pattern, others = next(iter(by_pattern.items()))
            key = text_of({"pattern": pattern}, LONGEST_KEY)
        elif isinstance(names := schema.get("propertyNames"), Mapping):
            key = self.shape({"type": "string", **names}, LONGEST_KEY, depth + 1)
        fewest = min(count_in(schema, "minProperties") or 0, MOST_REPEATS)
        most = count_in(schema, "maxProperties")
        most = max(fewest, min(self._bounds.items, self._bounds.items if most is None else most))
        value = self.shape(others, max(16, text // max(1, most)), max(depth + 1, 3))
        if key is None or value is None:
            return NOTHING if fewest == 0 else None
        return Entries(key, value, fewest, most)


def _names(value: object) -> set[str]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list | tuple) else set()


def _ordered(fields: list[Field], fewest: int, most: int | None) -> tuple[Field, ...]:
    """Those that are required first, as engines write them; as many of the others as are asked for, too."""
    needed = [field for field in fields if field.required]
    others = [field for field in fields if not field.required]
    while len(needed) < fewest and others:
        first = others.pop(0)
        needed.append(Field(first.name, first.shape, True))
    if most is not None:
        others = others[: max(0, most - len(needed))]
    return (*needed, *others)
