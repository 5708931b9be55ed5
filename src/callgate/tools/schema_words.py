"""The parts of a schema that some can't carry, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_LONGEST_VALUE = 80
_UNITS = (("Length", "character", "characters"), ("Items", "item", "items"), ("Properties", "entry", "entries"))


def in_words(schema: Mapping[str, Any]) -> str:
    """The description, and behind it what the schema asks for beyond its type: `Days ahead (1 to 14, default 7)`."""
    description = schema.get("description")
    said = description.strip() if isinstance(description, str) else ""
    wishes = [wish for wish in (_range(schema), _length(schema), *_others(schema)) if wish]
    if not wishes:
        return said
    return f"{said} ({', '.join(wishes)})".strip()


def _range(schema: Mapping[str, Any]) -> str:
    least, most = _number(schema.get("minimum")), _number(schema.get("maximum"))
    parts = [f"{least} to {most}"] if least and most else [f"at least {least}"] if least else []
    if most and not least:
        parts.append(f"at most {most}")
    if above := _number(schema.get("exclusiveMinimum")):
        parts.append(f"more than {above}")
    if below := _number(schema.get("exclusiveMaximum")):
        parts.append(f"less than {below}")
    if step := _number(schema.get("multipleOf")):
        parts.append(f"a multiple of {step}")
    return ", ".join(parts)


def _length(schema: Mapping[str, Any]) -> str:
    parts = []
    for unit, one, many in _UNITS:
        least, most = _number(schema.get(f"min{unit}")), _number(schema.get(f"max{unit}"))
        what = one if "1" in (least, most) and (least == most or not (least and most)) else many
        if least and least == most:
            parts.append(f"{least} {what}")
        elif least and most:
            parts.append(f"{least} to {most} {what}")
        elif least and least != "0":
            parts.append(f"at least {least} {what}")
        elif most:
            parts.append(f"at most {most} {what}")
    return ", ".join(parts)


def _others(schema: Mapping[str, Any]) -> list[str]:
    parts = []
    for key, words in (("format", "format {}"), ("pattern", "must match {}")):
        if isinstance(value := schema.get(key), str) and len(value) <= _LONGEST_VALUE:
            parts.append(words.format(value))
    if schema.get("uniqueItems") is True:
        parts.append("each only once")
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping) and isinstance(kind := values.get("type"), str):
        parts.append(f"values of type {kind}")
    if (default := schema.get("default")) is not None and (said := _value(default)):
        parts.append(f"default {said}")
    return parts


def _number(value: object) -> str:
    return "" if isinstance(value, bool) or not isinstance(value, int | float) else f"{value}"


def _value(value: object) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return ""
    return text if len(text) <= _LONGEST_VALUE else ""
