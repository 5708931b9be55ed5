"""Values that came as texts, as in XML, made what the tool's schema says that they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from callgate.tools import Loose, escaped, malformed, read_loosely
from callgate.vocabulary import Repair

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


Changed = tuple[dict[str, Any], tuple[Repair, ...]]
_SYNONYMS = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}


def typed(
    arguments: Mapping[str, Any], texts: Mapping[str, str], schema: Mapping[str, Any] | None, *, mends: bool = True
) -> Changed:
    """The arguments, those in `texts` typed by the schema; where it says nothing, as the model said or they look.

    With what had to be mended for that; where `mends` is false, what isn't the JSON that it should be stays a text.
    """
    found = dict(arguments)
    typing = _Typing(schema or {}, mends=mends)
    properties = _properties(schema, schema) if schema and texts else {}
    for key, said in texts.items():
        if key in found:
            found[key] = typing.of(found[key], properties.get(key), f"/{escaped(key)}", said)
    return found, tuple(typing.repairs)


def unwrapped(arguments: dict[str, Any], schema: Mapping[str, Any]) -> Changed:
    """Some models put all arguments into one parameter that the tool doesn't have: what is in it."""
    if len(arguments) == 1 and (properties := _properties(schema, schema)):
        ((key, inner),) = arguments.items()
        if key in _WRAPPERS and key not in properties:
            typing = _Typing(schema, mends=True)
            if isinstance(inner, str):
                inner = typing.read(inner, {"object"}, f"/{escaped(key)}")
            if isinstance(inner, dict) and inner.keys() & properties.keys():
                return inner, (*typing.repairs, Repair("", arguments, inner, "wrapped"))
    return arguments, ()


class _Typing:
    """Types texts by the parts of one schema, and lists what had to be mended."""

    def __init__(self, root: Mapping[str, Any], *, mends: bool) -> None:
        self.repairs: list[Repair] = []
        self._root = root
        self._mends = mends

    def of(self, value: object, schema: object, path: str, said: str = "") -> object:
        if isinstance(value, dict):
            if len(value) == 1 and _kinds(schema, self._root) == {"array"}:
                (inner,) = value.values()
                return self.of(inner if isinstance(inner, list) else [inner], schema, path)
            properties = _properties(schema, self._root)
            return {key: self.of(inner, properties.get(key), f"{path}/{escaped(key)}") for key, inner in value.items()}
        if isinstance(value, list):
            items = next((part["items"] for part in _parts(schema, self._root) if "items" in part), None)
            return [self.of(inner, items, f"{path}/{index}") for index, inner in enumerate(value)]
        if not isinstance(value, str):
            return value
        kinds = _kinds(schema, self._root)
        if not kinds:
            return value if said == "string" else _guessed(value)
        if "string" in kinds:
            return None if "null" in kinds and value == "null" else value
        return self.read(value, kinds, path)

    def read(self, text: str, kinds: set[str], path: str) -> object:
        """What a text says that should be JSON of one of these kinds; the text, if it is none."""
        stripped = text.strip()
        if stripped.lower() in _LOWER_WORDS:
            return _LOWER_WORDS[stripped.lower()]
        if {"integer", "number"} & kinds and _ZEROS.fullmatch(stripped):
            return int(stripped)
        read, rule = _read(stripped)
        if read is None or (rule and not self._mends):
            return text
        kind = _KIND_OF.get(type(read.value), "")
        if kind not in kinds and not (kind in ("integer", "number") and {"integer", "number"} & kinds):
            return text
        if rule:
            self.repairs.append(Repair(path, text, read.value, rule))
        return read.value


def _read(text: str) -> tuple[Loose | None, str]:
    """With the rule by which it could be read."""
    read = read_loosely(text, cut=False)
    if read is None and '\\"' in text:  # written for inside of a string
        outer = read_loosely(f'"{text}"', cut=False)
        read = read_loosely(outer.value, cut=False) if outer and isinstance(outer.value, str) else None
        return read, malformed(("escape", *outer.rules, *read.rules)) if outer and read else ""
    return read, malformed(read.rules) if read and read.rules else ""


def _guessed(text: str) -> object:
    """Nothing says what it is: JSON where it is that, else a text."""
    stripped = text.strip()
    if stripped in _WORDS:
        return _WORDS[stripped]
    if stripped and (stripped[0] in "{[" or _NUMBER.fullmatch(stripped)):
        read = read_loosely(stripped, cut=False)
        if read and not read.rules:
            return read.value
    return text


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
