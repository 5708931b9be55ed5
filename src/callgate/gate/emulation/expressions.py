"""Regular expressions that a grammar can hold: bounded, so that what they match ends, and written for an engine."""

from __future__ import annotations

import msgspec

MOST_REPEATS = 1000
"""Engines write repetitions out, and refuse many thousands."""

Ranges = tuple[tuple[int, int], ...]


class Characters(msgspec.Struct, frozen=True):
    """One character out of these ranges."""

    ranges: Ranges


class Sequel(msgspec.Struct, frozen=True):
    """One after the other."""

    parts: tuple[Expression, ...]


class Either(msgspec.Struct, frozen=True):
    options: tuple[Expression, ...]


class Repeated(msgspec.Struct, frozen=True):
    part: Expression
    fewest: int
    most: int | None
    """`None`: without an end."""


Expression = Characters | Sequel | Either | Repeated


def literal(text: str) -> Sequel:
    return Sequel(tuple(Characters(((ord(one), ord(one)),)) for one in text))


def bounded(expression: Expression, repeats: int) -> Expression:
    """The same, with at most `repeats` repetitions where it would allow any number, or more than an engine does."""
    match expression:
        case Repeated(part, fewest, most):
            limit = max(fewest, repeats if most is None else min(most, max(repeats, 1)))
            return Repeated(bounded(part, repeats), fewest, limit)
        case Sequel(parts):
            return Sequel(tuple(bounded(part, repeats) for part in parts))
        case Either(options):
            return Either(tuple(bounded(option, repeats) for option in options))
    return expression


def lengthened(expression: Expression, by: int) -> Expression:
    """The same, with `by` more repetitions at least in the first place that has no end."""
    match expression:
        case Repeated(part, fewest, None):
            return Repeated(part, fewest + -(-by // max(1, lengths(part)[0])), None)
        case Sequel(parts):
            for index, part in enumerate(parts):
                if (longer := lengthened(part, by)) is not part:
                    return Sequel((*parts[:index], longer, *parts[index + 1 :]))
    return expression


def lengths(expression: Expression) -> tuple[int, int]:
    """The shortest and the longest text that it matches; it has to be bounded."""
    match expression:
        case Characters():
            return 1, 1
        case Sequel(parts):
            every = [lengths(part) for part in parts]
            return sum(low for low, _ in every), sum(high for _, high in every)
        case Either(options):
            every = [lengths(option) for option in options]
            return min(low for low, _ in every), max(high for _, high in every)
        case Repeated(part, fewest, most):
            low, high = lengths(part)
            return low * fewest, high * (fewest if most is None else most)


def within(expression: Expression, shortest: int, longest: int) -> Expression:
    """The expression bounded so that its texts are no longer than `longest`, and no shorter than `shortest`, if it can
    be had that way.
    """
    if (low := lengths(bounded(expression, 1))[0]) < shortest:
        expression = lengthened(expression, shortest - low)
    repeats = max(1, min(longest, 64))
    while repeats > 1 and lengths(bounded(expression, repeats))[1] > longest:
        repeats //= 2
    return bounded(expression, repeats)


def ranges_text(ranges: Ranges) -> str:
    """A set of characters in brackets, as regular expressions and grammars both read it."""
    parts = (escaped(low) if low == high else f"{escaped(low)}-{escaped(high)}" for low, high in ranges)
    return f"[{''.join(parts)}]"


def escaped(code: int) -> str:
    char = chr(code)
    if char.isascii() and char.isalnum():
        return char
    return f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
