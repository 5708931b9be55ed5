"""A calculator: models are poor at arithmetic, and know it when they have one."""

from __future__ import annotations

from fractions import Fraction

from callgate.runtime.own_tools.expressions import NoExpression, Number, evaluate
from callgate.runtime.tool_source import Outcome

_MOST_DIGITS = 40
"""Of a fraction that comes to an end, such as 0.125."""


def calculate(expression: str) -> Outcome:
    """Work out an arithmetic expression, exactly where possible.

    Args:
        expression: For example (3 + 4.5) * 2^10 or sqrt(2) * sin(pi / 4). Knows + - * / // % ^ and !, brackets,
            sqrt, abs, round, floor, ceil, min, max, factorial, gcd, lcm, comb, log, log2, log10, exp, sin, cos, tan.
    """
    try:
        return Outcome(written(evaluate(expression)))
    except NoExpression as error:
        return Outcome(f"error: {error}", is_error=True)


def written(value: Number) -> str:
    """A whole number or a decimal to its last digit, and anything else as near as a float comes."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if value.denominator == 1:
        return str(value.numerator)
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    digits = max(twos, fives)
    if rest != 1 or digits > _MOST_DIGITS:
        return _approximate(value)
    scaled = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{scaled[:-digits]}.{scaled[-digits:]}"


def _approximate(value: Fraction) -> str:
    try:
        near = float(value)
    except OverflowError:
        return str(round(value))
    return repr(near) if near else f"about 10^-{len(str(value.denominator)) - len(str(abs(value.numerator)))}"
