"""What a tool's schema says of its parameters, as far as it takes to know which tool is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from callgate.tools.schema_graph import look_up
from callgate.tools.spelling import folded

_MOST_PARTS = 64
"""Of a parameter's schema: references may go in circles."""


class Choice(msgspec.Struct, frozen=True):
    """A parameter that isn't set, and one of its values."""

    parameter: str
    value: str
    arguments: Mapping[str, Any]
    """The others, as an object."""


def fits(arguments: Mapping[str, Any] | str, schema: Mapping[str, Any]) -> bool:
    """Whether there are arguments, each is a parameter, and none that is required is missing. Values don't count."""
    given = _as_object(arguments)
    required = schema.get("required")
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list | tuple) else set()
    return bool(given) and given is not None and given.keys() <= _properties(schema).keys() and needed <= given.keys()


def unset_choices(value: str, arguments: Mapping[str, Any] | str, schema: Mapping[str, Any]) -> list[Choice]:
    """The parameters without a value that may take `value`: as it is written, else in another spelling."""
    given = _as_object(arguments)
    if given is None:
        return []
    unset = {name: part for name, part in _properties(schema).items() if given.get(name) is None}
    values = {name: set(_values(part, schema)) for name, part in unset.items()}
    found = [(name, value) for name, known in values.items() if value in known]
    if not found:
        wanted = folded(value)
        found = [(name, one) for name, known in values.items() for one in known if wanted and folded(one) == wanted]
    return [Choice(name, one, given) for name, one in found]


def _as_object(arguments: Mapping[str, Any] | str) -> Mapping[str, Any] | None:
    if not isinstance(arguments, str):
        return arguments
    try:
        return msgspec.json.decode(arguments or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _values(part: object, root: Mapping[str, Any]) -> Iterator[str]:
    """The texts that an enumeration lists, also behind a reference or as one of several types."""
    waiting = [part]
    for _ in range(_MOST_PARTS):
        if not waiting:
            return
        looked_at = waiting.pop()
        if not isinstance(looked_at, Mapping):
            continue
        listed = looked_at.get("enum")
        if isinstance(listed, list | tuple):
            yield from (value for value in listed if isinstance(value, str))
        if isinstance(constant := looked_at.get("const"), str):
            yield constant
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(alternatives := looked_at.get(key), list | tuple):
                waiting += alternatives
        if isinstance(reference := looked_at.get("$ref"), str):
            waiting.append(look_up(root, unquote(reference)))
