"""What answers look like, learnt from answers: a JSON Schema that all of some samples fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}


def shape_of(samples: Sequence[object]) -> dict[str, Any]:
    """Of values as JSON has them. What is in every object is required; what was only ever null may be anything."""
    given = [sample for sample in samples if sample is not None]
    if not given:
        return {}
    names = {_NAMES[type(sample)] for sample in given} | ({"null"} if len(given) < len(samples) else set())
    if {"integer", "number"} <= names:
        names.remove("integer")
    shape: dict[str, Any] = {"type": names.pop() if len(names) == 1 else sorted(names)}
    if objects := [sample for sample in given if isinstance(sample, dict)]:
        shape |= _of_objects(objects)
    if elements := [element for sample in given if isinstance(sample, list) for element in sample]:
        shape["items"] = shape_of(elements)
    return shape


def _of_objects(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    keys = list(dict.fromkeys(key for each in objects for key in each))
    if not keys:
        return {}
    properties = {key: shape_of([each[key] for each in objects if key in each]) for key in keys}
    required = [key for key in keys if all(key in each for each in objects)]
    return {"properties": properties, **({"required": required} if required else {})}
