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
_CONTAINERS = (dict, list, Mapping, tuple)


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
    size, exact = 1, _is_exact(value)
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(DEEPEST):
        following: list[Any] = []
        for holder in level:
            size += len(holder)
            items = holder
            if type(holder) is dict or isinstance(holder, Mapping):
                items = holder.values()
                exact = exact and _are_exact_keys(holder)
            for item in items:
                kind = type(item)
                if kind in _SCALARS or (kind is str and item.isascii()):
                    continue
                if isinstance(item, _CONTAINERS):
                    following.append(item)
                exact = exact and _is_exact(item)
        if size > MOST_VALUES:
            raise NoPlainValue(f"the arguments hold more than {MOST_VALUES:,} values")
        level = following
        if not level:
            repairs: list[Repair] = []
            return Plain(value if exact else _copy(value, "", repairs), size, tuple(repairs))
    raise NoPlainValue(f"the arguments are nested more than {DEEPEST} levels deep")


def _is_exact(value: object) -> bool:
    kind = type(value)
    return _is_whole(value) if kind is str else kind is dict or kind is list or kind in _SCALARS  # type: ignore[arg-type]


def _are_exact_keys(holder: Mapping[Any, Any]) -> bool:
    return all(map(_is_exact_key, holder))


def _is_exact_key(key: object) -> bool:
    return type(key) is str and _is_whole(key)


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
