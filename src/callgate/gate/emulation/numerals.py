"""Numbers within bounds, as expressions over their digits."""

from __future__ import annotations

import math
from fractions import Fraction

from callgate.gate.emulation.expressions import Characters, Either, Expression, Repeated, Sequel, literal
from callgate.gate.emulation.shapes import LONGEST_NUMERAL, Literals, Numeral, Shape, Whole

GREATEST = 10 ** (LONGEST_NUMERAL - 1) - 1
"""Without bounds of its own; JSON's readers keep so many digits without loss."""
MOST_DECIMALS = 6
MOST_STEPS = 64
_FEW_STEPS = 21
_DIGIT = Characters(((48, 57),))
_NOT_ZERO = Characters(((49, 57),))
_POINT = literal(".")
_MINUS = literal("-")


_UNSIGNED = Either((literal("0"), Sequel((_NOT_ZERO, Repeated(_DIGIT, 0, LONGEST_NUMERAL - 2)))))
_SIGNED = Sequel((Repeated(_MINUS, 0, 1), _UNSIGNED))


def whole_number(low: int | None, high: int | None, step: Fraction | None = None) -> Shape | None:
    """`None`, if there is no such number."""
    lowest = -GREATEST if low is None else low
    highest = max(GREATEST, lowest) if high is None else high
    if low is None:
        lowest = min(lowest, highest)
    if lowest > highest:
        return None
    if step is not None and (unit := step.numerator) != 1:
        return _multiples(Fraction(unit), Fraction(lowest), Fraction(highest))
    return Whole(lowest, highest)


def number(
    low: Fraction | None,
    high: Fraction | None,
    *,
    above: bool = False,
    below: bool = False,
    step: Fraction | None = None,
) -> Shape | None:
    """Any number from `low` to `high`; `above` and `below` leave those out. `None`, if there is none.

    Of a range's ragged ends, the parts of less than one may be lost: what is left is in the range.
    """
    if low is None and high is None and step is None:
        return ANY_NUMBER
    # Past the greatest there is none, so that one is whole.
    lowest = Fraction(-GREATEST - 1) if low is None else low
    highest = max(Fraction(GREATEST + 1), lowest) if high is None else high
    lowest, above = (min(lowest, highest), True) if low is None else (lowest, above)
    below = below or high is None
    decimals = MOST_DECIMALS
    if step is not None:
        decimals = next((places for places in range(MOST_DECIMALS + 1) if step == Fraction(1, 10**places)), -1)
        if decimals < 0:
            return _multiples(step, lowest, highest, above=above, below=below)
    # Downwards is upwards behind a minus, with the ends changed.
    options = _rising(lowest, highest, above=above, below=below, decimals=decimals)
    if lowest < 0:
        falling = _rising(-highest, -lowest, above=below, below=above, decimals=decimals, zero=False)
        options += [Sequel((_MINUS, option)) for option in falling]
    if options:
        return Numeral(options[0] if len(options) == 1 else Either(tuple(options)))
    width = highest - lowest
    places = 0
    while places < 12 and width * 10**places < _FEW_STEPS - 1:
        places += 1
    return _multiples(Fraction(1, 10**places), lowest, highest, above=above, below=below)


def _rising(
    low: Fraction, high: Fraction, *, above: bool, below: bool, decimals: int, zero: bool = True
) -> list[Expression]:
    """Those of the numbers from `low` to `high` that aren't below zero."""
    if high < 0:
        return []
    first = max(0, math.ceil(low))
    last = math.floor(high)
    options: list[Expression] = []
    # With a fraction behind it, a number is still below the next.
    odd = Sequel((_POINT, Repeated(_DIGIT, 0, decimals - 1), _NOT_ZERO)) if decimals else None
    start = first
    if above and first == low and decimals and first + 1 <= last:
        assert odd
        options.append(Sequel((_digits(first, first), odd)))
    if above and first == low:
        start += 1
    if not zero and start == 0:
        if decimals and last >= 1:
            assert odd
            options.append(Sequel((_digits(0, 0), odd)))
        start = 1
    end = last - 1 if below and last == high else last
    if decimals and start <= last - 1:
        options.append(Sequel((_digits(start, last - 1), Repeated(_fraction(decimals), 0, 1))))
        if end == last:
            options.append(_digits(last, last))
    elif start <= end:
        options.append(_digits(start, end))
    return options


def _multiples(
    step: Fraction, low: Fraction, high: Fraction, *, above: bool = False, below: bool = False
) -> Shape | None:
    """Some of the multiples of `step`, those nearest to zero."""
    if step <= 0:
        return None
    first, last = math.ceil(low / step), math.floor(high / step)
    if above and first * step == low:
        first += 1
    if below and last * step == high:
        last -= 1
    if last - first >= MOST_STEPS:
        first = min(max(first, -MOST_STEPS // 2), last - MOST_STEPS + 1)
        last = first + MOST_STEPS - 1
    values = [step * count for count in range(first, last + 1)]
    plain = tuple(value.numerator if value.denominator == 1 else float(value) for value in values)
    return Literals(plain) if plain else None


def _fraction(decimals: int) -> Expression:
    return Sequel((_POINT, Repeated(_DIGIT, 1, decimals)))


ANY_NUMBER = Numeral(Sequel((_SIGNED, Repeated(_fraction(MOST_DECIMALS), 0, 1))))


def whole_expression(low: int, high: int) -> Expression:
    """The whole numbers from `low` to `high`."""
    if (low, high) == (-GREATEST, GREATEST):
        return _SIGNED
    options: list[Expression] = []
    if low < 0:
        options.append(Sequel((_MINUS, _digits(max(1, -high), -low))))
    if high >= 0:
        options.append(_digits(max(0, low), high))
    return options[0] if len(options) == 1 else Either(tuple(options))


def _digits(low: int, high: int) -> Expression:
    """From `low` to `high`, neither of them below zero."""
    if high == GREATEST and low <= 1:
        return _UNSIGNED if low == 0 else Sequel((_NOT_ZERO, Repeated(_DIGIT, 0, LONGEST_NUMERAL - 2)))
    options: list[Expression] = []
    while low <= high:
        last = min(high, 10 ** len(str(low)) - 1)
        options.append(_of_one_length(str(low), str(last)))
        low = last + 1
    return options[0] if len(options) == 1 else Either(tuple(options))


def _of_one_length(low: str, high: str) -> Expression:
    if low == high:
        return literal(low)
    if len(low) == 1:
        return Characters(((ord(low), ord(high)),))
    if low[0] == high[0]:
        return Sequel((literal(low[0]), _of_one_length(low[1:], high[1:])))
    rest = len(low) - 1
    options: list[Expression] = []
    first, last = ord(low[0]), ord(high[0])
    if low[1:] != "0" * rest:
        options.append(Sequel((literal(low[0]), _of_one_length(low[1:], "9" * rest))))
        first += 1
    if high[1:] != "9" * rest:
        options.append(Sequel((literal(high[0]), _of_one_length("0" * rest, high[1:]))))
        last -= 1
    if first <= last:
        options.append(Sequel((Characters(((first, last),)), Repeated(_DIGIT, rest, rest))))
    return options[0] if len(options) == 1 else Either(tuple(options))
