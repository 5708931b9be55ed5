"""Values that came as texts, as in XML, made what the tool's schema says that they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_LOWER_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "none": None}
_ZEROS = re.compile(r"-?0{1,64}\d{1,17}")
_WRAPPERS = ("arguments", "parameters", "properties", "input", "args")
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")
_KIND_OF = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
    dict: "object",
    list: "array",
}
MOST_STEPS = 64
"""Of references and alternatives followed for one value."""


def typed(arguments: Mapping[str, Any], texts: Mapping[str, str], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments, those in `texts` typed by the schema; where it says nothing, as the model said or they look."""
    found = dict(arguments)
    properties = _properties(schema, schema) if schema else {}
    for key, said in texts.items():
        if key in found:
            found[key] = _typed(found[key], properties.get(key), schema or {}, said)
    if len(found) == 1 and properties:
        found = _unwrapped(found, properties)
    return found


def _unwrapped(arguments: dict[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Some models put all arguments into one parameter that the tool doesn't have."""
    ((key, inner),) = arguments.items()
    if key in _WRAPPERS and key not in properties:
        if isinstance(inner, str):
            inner = _read(inner, {"object"})
        if isinstance(inner, dict) and inner.keys() & properties.keys():
            return inner
    return arguments


def _typed(value: object, schema: object, root: Mapping[str, Any], said: str = "") -> object:
    if isinstance(value, dict):
        if len(value) == 1 and _kinds(schema, root) == {"array"}:
            (inner,) = value.values()
            return _typed(inner if isinstance(inner, list) else [inner], schema, root)
        properties = _properties(schema, root)
        return {key: _typed(inner, properties.get(key), root) for key, inner in value.items()}
    if isinstance(value, list):
        items = next((part["items"] for part in _parts(schema, root) if "items" in part), None)
        return [_typed(inner, items, root) for inner in value]
    if not isinstance(value, str):
        return value
    kinds = _kinds(schema, root)
    if not kinds:
        return value if said == "string" else _guessed(value)
    if "string" in kinds:
        return None if "null" in kinds and value == "null" else value
    return _read(value, kinds)


def _guessed(text: str) -> object:
    """Nothing says what it is: JSON where it is that, else a text."""
    stripped = text.strip()
    if stripped in _WORDS:
        return _WORDS[stripped]
    if stripped and (stripped[0] in "{[" or _NUMBER.fullmatch(stripped)):
        from callgate.tools import read_loosely

        read = read_loosely(stripped, cut=False)
        if read and not read.rules:
            return read.value
    return text


def _read(text: str, kinds: set[str]) -> object:
    from callgate.tools import read_loosely

    stripped = text.strip()
    if stripped.lower() in _LOWER_WORDS:
        return _LOWER_WORDS[stripped.lower()]
    if {"integer", "number"} & kinds and _ZEROS.fullmatch(stripped):
        return int(stripped)
    read = read_loosely(stripped, cut=False)
    if read is None and '\\"' in stripped:  # written for inside of a string
        unescaped = read_loosely(f'"{stripped}"', cut=False)
        read = read_loosely(unescaped.value, cut=False) if unescaped and isinstance(unescaped.value, str) else None
    if read is None:
        return text
    value = read.value
    kind = _KIND_OF.get(type(value), "")
    return value if kind in kinds or (kind in ("integer", "number") and {"integer", "number"} & kinds) else text


def _properties(schema: object, root: Mapping[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in _parts(schema, root or {}):
        properties = part.get("properties")
        if isinstance(properties, Mapping):
            for key, value in properties.items():
                found.setdefault(key, value)
    return found


def _kinds(schema: object, root: Mapping[str, Any]) -> set[str]:
    kinds: set[str] = set()
    for part in _parts(schema, root):
        named = part.get("type")
        if isinstance(named, str):
            kinds.add(_SYNONYMS.get(named, named))
        elif isinstance(named, list):
            kinds.update(_SYNONYMS.get(kind, kind) for kind in named if isinstance(kind, str))
        else:
            values = part["enum"] if isinstance(part.get("enum"), list) else [part["const"]] if "const" in part else []
            kinds.update(_KIND_OF[type(value)] for value in values if type(value) in _KIND_OF)
            if "properties" in part:
                kinds.add("object")
            if "items" in part:
                kinds.add("array")
    return kinds


_SYNONYMS = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}


def _parts(schema: object, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and what it refers to or lets choose from."""
    waiting, steps = [schema], 0
    while waiting and steps < MOST_STEPS:
        steps += 1
        part = waiting.pop()
        if not isinstance(part, Mapping):
            continue
        yield part
        reference = part.get("$ref")
        if isinstance(reference, str):
            waiting.append(_referred(reference, root))
        for key in _ALTERNATIVES:
            if isinstance(part.get(key), list):
                waiting.extend(part[key])


def _referred(reference: str, root: Mapping[str, Any]) -> object:
    if not reference.startswith("#"):
        return None
    found: object = root
    for step in reference.lstrip("#").strip("/").split("/"):
        if not isinstance(found, Mapping):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    return found
