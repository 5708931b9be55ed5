"""Values as JSON has them, measured before anything recursive or costly looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.tools.loose_json import DEEPEST
from callgate.tools.loose_strings import whole_characters
from callgate.vocabulary import Repair

MOST_VALUES = 2_000_000
_SCALARS = frozenset({int, float, bool, type(None)})


class NoPlainValue(Exception):
    """Something that can't be an argument; the message is for the model."""


class Plain(msgspec.Struct, frozen=True):
    value: Any
    size: int
    """How many values there are in it, itself included."""
    repairs: tuple[Repair, ...] = ()


def plain(value: object) -> Plain:
    """`value` with nothing in it but what JSON has; the very same, if there was nothing else.

    Raises: NoPlainValue, if it can't be had, is too deep or too large.
    """
    if type(value) is dict and _is_flat(value):
        return Plain(value, 1 + len(value))
    size, exact = 0, True
    level: list[object] = [value]
    for _ in range(DEEPEST + 1):
        size += len(level)
        if size > MOST_VALUES:
            raise NoPlainValue(f"the arguments hold more than {MOST_VALUES:,} values")
        following: list[object] = []
        for item in level:
            kind = type(item)
            if kind is str:
                exact = exact and _is_whole(item)  # type: ignore[arg-type]
            elif kind in _SCALARS:
                continue
            elif isinstance(item, Mapping):
                exact = exact and kind is dict and all(type(key) is str and _is_whole(key) for key in item)
                following += item.values()
            elif isinstance(item, list | tuple):
                exact = exact and kind is list
                following += item
            else:
                exact = False
        if not following:
            repairs: list[Repair] = []
            return Plain(value if exact else _copy(value, "", repairs), size, tuple(repairs))
        level = following
    raise NoPlainValue(f"the arguments are nested more than {DEEPEST} levels deep")


def _is_flat(value: dict[Any, Any]) -> bool:
    """Whether it holds nothing but scalars and plain texts, as most arguments do."""
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            return False
        kind = type(item)
        if not (item.isascii() if kind is str else kind in _SCALARS):
            return False
    return True


def _is_whole(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _copy(value: object, path: str, repairs: list[Repair]) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            whole = whole_characters(str.__str__(value), set())
            if whole != value:
                repairs.append(Repair(path, whole, whole, "half-character"))  # what it was, nothing can print
            return whole
        case int():
            return int(value)
        case float():
            return float(value)
        case Mapping():
            return {_key(key): _copy(item, f"{path}/{escaped(_key(key))}", repairs) for key, item in value.items()}
        case list() | tuple():
            return [_copy(item, f"{path}/{index}", repairs) for index, item in enumerate(value)]
    raise NoPlainValue(f"the arguments hold a {type(value).__name__}, which JSON has no words for")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise NoPlainValue("the arguments have a key that is no text")
    return whole_characters(str.__str__(key), set())


def escaped(part: str) -> str:
    """A key as a part of a JSON Pointer."""
    return part.replace("~", "~0").replace("/", "~1") if "~" in part or "/" in part else part


def same(one: object, other: object) -> bool:
    """Whether two values are the same in JSON: unlike in Python, true isn't 1."""
    match one, other:
        case bool(), _:
            return one is other
        case _, bool():
            return False
        case dict(), dict():
            return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
    return one == other
