"""A schema for those who know only part of JSON Schema: references inlined, branches merged, the rest said in words.

Of a property, Ollama passes on its type, description, enum, items, properties, required and `anyOf`, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.tools.schema_joining import Joiner, Schema, alternatives, list_of
from callgate.tools.schema_words import in_words

MOST_PARTS = 2_000
"""Of what comes out; what is beyond is left open."""
DEEPEST = 16
_MOST_COMPARED = 32


def simplified(schema: Mapping[str, Any]) -> Schema:
    """An object schema that says as much of `schema` as can be said in the few words that are left."""
    joiner = Joiner(schema, MOST_PARTS)
    root = joiner.plain_root()
    root["properties"] = {
        name: _part(part, joiner, ()) for name, part in root["properties"].items() if part is not False
    }
    return root


def with_plain_root(schema: Mapping[str, Any]) -> Schema:
    """The schema as it is, but for alternatives and references at its root: those become one object."""
    if not any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref")):
        return dict(schema)
    kept = {key: schema[key] for key in ("additionalProperties", "$defs", "definitions", "$schema") if key in schema}
    return {**Joiner(schema, MOST_PARTS).plain_root(), **kept}


def _part(schema: object, joiner: Joiner, inside: tuple[str, ...]) -> Schema:
    """`inside` are the references that led here, and an empty text for each level."""
    if not isinstance(schema, Mapping):
        return {}
    whole, inside = joiner.joined(schema, inside)
    inside = (*inside, "")
    simple: Schema = {}
    kind = whole.get("type")
    if isinstance(kind, str) or (isinstance(kind, list) and kind and all(isinstance(one, str) for one in kind)):
        simple["type"] = kind
    if description := in_words(whole):
        simple["description"] = description
    if values := [whole["const"]] if "const" in whole else list(list_of(whole.get("enum"))):
        simple["enum"] = values
    if inside.count("") >= DEEPEST or joiner.left < 0:
        return simple
    properties = whole.get("properties")
    if isinstance(properties, Mapping) and properties:
        simple["properties"] = {
            name: _part(part, joiner, inside) for name, part in properties.items() if part is not False
        }
        if required := [name for name in whole.get("required", ()) if name in simple["properties"]]:
            simple["required"] = required
    if items := _items(whole, joiner, inside):
        simple["items"] = items
    if ways := alternatives(whole):
        simple["anyOf"] = [_part(way, joiner, inside) for way in ways]
    return simple


def _items(whole: Mapping[str, Any], joiner: Joiner, inside: tuple[str, ...]) -> Schema:
    """What an array holds; of one whose places differ, what may be in any of them."""
    items = whole.get("items")
    places = [*list_of(whole.get("prefixItems")), *list_of(items), *([items] if isinstance(items, Mapping) else [])]
    ways: list[Schema] = []
    for place in places:
        way = _part(place, joiner, inside)
        if len(ways) > _MOST_COMPARED or way not in ways:
            ways.append(way)
    return {"anyOf": ways} if len(ways) > 1 else ways[0] if ways else {}
