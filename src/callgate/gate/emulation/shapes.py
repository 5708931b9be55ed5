"""What an answer may look like: a closed, bounded kind of schema that every engine can be held to.

A JSON Schema says what is allowed, and most of it is endless. A shape says what can be written, and how long it gets.
"""

from __future__ import annotations

from typing import Any

import msgspec

from callgate.gate.emulation.expressions import Expression, lengths

LONGEST_NUMERAL = 16
"""Digits and sign of a whole number without bounds of its own."""


class Literals(msgspec.Struct, frozen=True):
    """One of these JSON values."""

    values: tuple[Any, ...]


class Words(msgspec.Struct, frozen=True):
    """Any text of such a length."""

    shortest: int
    longest: int


class Spelt(msgspec.Struct, frozen=True):
    """A text of this spelling."""

    expression: Expression


class Whole(msgspec.Struct, frozen=True):
    """A whole number."""

    lowest: int
    highest: int


class Numeral(msgspec.Struct, frozen=True):
    """A number, written like this."""

    expression: Expression


class Field(msgspec.Struct, frozen=True):
    name: str
    shape: Shape
    required: bool


class Record(msgspec.Struct, frozen=True):
    """An object with these properties and no others. Those that are required come first."""

    fields: tuple[Field, ...]


class Entries(msgspec.Struct, frozen=True):
    """An object with keys of the model's own choice."""

    key: Shape
    value: Shape
    fewest: int
    most: int


class Rows(msgspec.Struct, frozen=True):
    """An array."""

    item: Shape
    fewest: int
    most: int
    unique: bool = False


class Fixed(msgspec.Struct, frozen=True):
    """An array with a shape for each place."""

    items: tuple[Shape, ...]


class Choice(msgspec.Struct, frozen=True):
    options: tuple[Shape, ...]


Shape = Literals | Words | Spelt | Whole | Numeral | Record | Entries | Rows | Fixed | Choice

TRUTH = Literals((True, False))
NULL = Literals((None,))
NOTHING = Record(())


def choice(options: list[Shape]) -> Shape:
    return options[0] if len(options) == 1 else Choice(tuple(options))


def longest(shape: Shape) -> int:
    """How many characters it may take at most, about: escapes and white space aren't counted."""
    match shape:
        case Literals(values):
            return max((len(msgspec.json.encode(value)) for value in values), default=0)
        case Words(_, most):
            return most + 2
        case Spelt(expression) | Numeral(expression):
            return lengths(expression)[1] + 2
        case Whole(low, high):
            return max(len(str(low)), len(str(high)))
        case Record(fields):
            return 2 + sum(len(field.name) + 4 + longest(field.shape) for field in fields)
        case Entries(key, value, _, most):
            return 2 + most * (longest(key) + longest(value) + 2)
        case Rows(item, _, most):
            return 2 + most * (longest(item) + 1)
        case Fixed(items):
            return 2 + sum(longest(item) + 1 for item in items)
        case Choice(options):
            return max(longest(option) for option in options)
