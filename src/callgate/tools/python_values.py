"""From JSON back to Python: the arguments of a call as the values that a function's type hints promise it."""

from __future__ import annotations

import enum
import inspect
import os
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from callgate.tools.functions import hints_of
from callgate.tools.hint_notes import is_field
from callgate.vocabulary import UsageError

_DEEPEST = 32
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable)
_OBJECTS = (dict, abc.Mapping, abc.MutableMapping)
_NESTED = (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar)


def bound_call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Callable[[], Any]:
    """A call of the tool that `tool_of` made of `function`, with the arguments as it expects them: dataclasses, enums,
    dates, models of pydantic …

    Raises: UsageError, which names the argument that is no good.
    """
    if isinstance(function, type):
        return partial(_converted, function.__name__, dict(arguments), function)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    hints = hints_of(function, getattr(function, "__name__", "the tool"))
    left = dict(arguments)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            hint = hints.get(parameter.name, Any)
            named.update({name: _converted(name, value, hint) for name, value in left.items()})
            left.clear()
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            if parameter.name in left:
                value = _converted(parameter.name, left.pop(parameter.name), hints.get(parameter.name, Any))
            elif is_field(parameter.default) and not parameter.default.is_required():
                value = parameter.default.get_default(call_default_factory=True)
            elif parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is not parameter.empty:
                value = parameter.default
            else:
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[parameter.name] = value
    return partial(function, *positional, **named, **left)


def _converted(name: str, value: Any, hint: Any) -> Any:
    try:
        return _value(value, hint, _DEEPEST)
    except Exception as error:  # noqa: BLE001 - hints and their checks are anybody's code
        words = str(error).splitlines() or [type(error).__name__]
        raise UsageError(f"the argument {name!r} is no good: {' '.join(words)[:400]}") from None


def _value(value: Any, hint: Any, depth: int) -> Any:
    if hint in (Any, object, inspect.Parameter.empty) or depth <= 0:
        return value
    if _is_pydantics(hint):
        from pydantic import TypeAdapter

        return TypeAdapter(hint).validate_json(msgspec.json.encode(value))
    try:
        return msgspec.convert(value, hint, dec_hook=_from_plain)
    except msgspec.ValidationError:
        raise
    except (TypeError, _UnknownType):
        return _by_shape(value, hint, depth - 1)


def _by_shape(value: Any, hint: Any, depth: int) -> Any:
    """What msgspec has no word for, part by part; what nobody knows stays as it is."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated or origin in _NESTED:
        return _value(value, args[0], depth)
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(value, args, depth)
    if origin in _LISTS and isinstance(value, list):
        return [_value(item, args[0], depth) for item in value]
    if origin in _OBJECTS and isinstance(value, dict):
        return {key: _value(item, args[1], depth) for key, item in value.items()}
    if origin in (set, frozenset, abc.Set, abc.MutableSet) and isinstance(value, list):
        kind = frozenset if origin is frozenset else set
        return kind(_value(item, args[0], depth) for item in value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if hasattr(hint, "__supertype__"):
        return _value(value, hint.__supertype__, depth)
    if hasattr(hint, "__value__"):
        return _value(value, hint.__value__, depth)
    return value


def _first_that_fits(value: Any, hints: tuple[Any, ...], depth: int) -> Any:
    failure: Exception | None = None
    for hint in hints:
        try:
            return _value(value, hint, depth)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next may fit
            failure = failure or error
    raise failure or TypeError("nothing fits")


class _UnknownType(Exception):
    """Bubbles through msgspec, which takes a TypeError for a value that is wrong."""


def _from_plain(kind: Any, value: Any) -> Any:
    if _is_pydantics(kind):
        return _value(value, kind, 1)
    if isinstance(kind, type) and isinstance(value, kind):
        return value
    if isinstance(kind, type) and issubclass(kind, os.PathLike) and isinstance(value, str):
        from pathlib import Path

        made: Any = Path if inspect.isabstract(kind) else kind
        return made(value)
    if isinstance(kind, type) and issubclass(kind, str | int | float):
        return kind(value)
    raise _UnknownType


def _is_pydantics(hint: Any, depth: int = _DEEPEST) -> bool:
    if depth <= 0:
        return False
    if typing.get_origin(hint) is typing.Annotated and any(
        type(note).__module__.startswith("pydantic") for note in hint.__metadata__
    ):
        return True
    if hasattr(hint, "__pydantic_core_schema__"):
        return True
    return any(_is_pydantics(part, depth - 1) for part in typing.get_args(hint))
