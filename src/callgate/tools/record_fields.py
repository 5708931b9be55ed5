"""The fields of dataclasses, typed dictionaries and named tuples."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import msgspec


class Field(msgspec.Struct, frozen=True):
    """One field of a record."""

    name: str
    hint: Any
    required: bool
    default: Any = msgspec.UNSET


def is_record(hint: type) -> bool:
    return typing.is_typeddict(hint) or dataclasses.is_dataclass(hint) or _is_named_tuple(hint)


def fields_of(record: type) -> list[Field]:
    """Those that may be given, in order.

    Raises: NameError, if a hint names what isn't there.
    """
    hints = typing.get_type_hints(record, include_extras=True)
    if typing.is_typeddict(record):
        return [Field(name, hint, _is_required(record, name, hint)) for name, hint in hints.items()]
    if dataclasses.is_dataclass(record):
        return [_of_dataclass(field, hints[field.name]) for field in dataclasses.fields(record) if field.init]
    defaults: dict[str, Any] = getattr(record, "_field_defaults", {})
    return [
        Field(name, hints.get(name, Any), name not in defaults, defaults.get(name, msgspec.UNSET))
        for name in getattr(record, "_fields", ())
    ]


def docstring_of(record: type) -> str | None:
    """Its own: not an inherited one, nor the signature that dataclasses and named tuples are given."""
    text = record.__dict__.get("__doc__")
    return text if isinstance(text, str) and not text.startswith(f"{record.__name__}(") else None


def _is_required(record: type, name: str, hint: object) -> bool:
    # Where hints are postponed, Python itself doesn't see what each one says.
    said = typing.get_origin(hint)
    if said in (typing.Required, typing.NotRequired):
        return said is typing.Required
    return name in getattr(record, "__required_keys__", ())


def _of_dataclass(field: dataclasses.Field[Any], hint: object) -> Field:
    if field.default is not dataclasses.MISSING:
        return Field(field.name, hint, required=False, default=field.default)
    return Field(field.name, hint, required=field.default_factory is dataclasses.MISSING)


def _is_named_tuple(hint: type) -> bool:
    return issubclass(hint, tuple) and hasattr(hint, "_field_defaults")
