"""Arithmetic as people write it, read and worked out: exact where numbers are, and bounded in everything."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction

Number = Fraction | float

LONGEST = 2_000
DEEPEST = 60
MOST_BITS = 12_000
"""Of a numerator or a denominator: some 3,600 digits."""
_LONGEST_NUMBER = 400
_TOKEN = re.compile(
    r"\s*(?:(\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|//|[-+*/%^(),!]))"
)
_SPELT = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "π": "pi", "√": " sqrt ", "²": "^2", "³": "^3"}
)
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "^": 4, "**": 4}
_SIGN_BINDING = 3


class NoExpression(ValueError):
    """What isn't arithmetic, or more of it than is worked out here."""


def evaluate(text: str) -> Number:
    """Raises: NoExpression, which says why."""
    if len(text) > LONGEST:
        raise NoExpression(f"the expression is longer than {LONGEST:,} characters")
    reader = _Reader(list(_tokens(text.translate(_SPELT))))
    try:
        value = reader.expression(0, 0)
    except ZeroDivisionError:
        raise NoExpression("that is a division by zero") from None
    except (OverflowError, ValueError) as error:
        raise (
            error if isinstance(error, NoExpression) else NoExpression("a number is too large, or out of range")
        ) from None
    if reader.here == ",":
        raise NoExpression("a comma isn't expected there: numbers are written without any")
    if reader.here:
        raise NoExpression(f"{reader.here!r} isn't expected there")
    return value


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._next = 0

    @property
    def here(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.here
        if not token or (expected and token != expected):
            missing = repr(expected) if expected else "a number"
            raise NoExpression(f"{missing} is missing {f'before {token!r}' if token else 'at the end'}")
        self._next += 1
        return token

    def expression(self, binding: int, depth: int) -> Number:
        if depth > DEEPEST:
            raise NoExpression(f"the expression is nested deeper than {DEEPEST} levels")
        left = self._operand(depth + 1)
        while True:
            operator = self.here
            if operator == "!":
                self.take()
                left = _factorial(left)
            elif _BINDING.get(operator, -1) > binding:
                self.take()
                # Powers bind to the right: what follows may hold another.
                right = self.expression(_BINDING[operator] - (operator in ("^", "**")), depth + 1)
                left = _bounded(_worked_out(operator, left, right))
            else:
                return left

    def _operand(self, depth: int) -> Number:
        token = self.take()
        if token in ("+", "-"):
            value = self.expression(_SIGN_BINDING - 1, depth)
            return value if token == "+" else -value  # noqa: S105 - no such token
        if token == "(":  # noqa: S105
            value = self.expression(0, depth)
            self.take(")")
            return value
        if token[0].isdigit() or token[0] == ".":
            return _number(token)
        name = token.lower()
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in _FUNCTIONS:
            return self._called(name, depth)
        raise NoExpression(f"{token[:40]!r} is no number, function or operator that is known here")

    def _called(self, name: str, depth: int) -> Number:
        if name == "sqrt" and self.here != "(":  # as after a root sign
            return _bounded(_root(self._operand(depth + 1)))
        self.take("(")
        values = [self.expression(0, depth)]
        while self.here == ",":
            self.take()
            values.append(self.expression(0, depth))
        self.take(")")
        least, most, function = _FUNCTIONS[name]
        if not least <= len(values) <= most:
            raise NoExpression(f"{name} doesn't take {len(values)} values")
        return _bounded(function(*values))


def _tokens(text: str) -> Iterator[str]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise NoExpression(f"{text[at:].lstrip()[:1]!r} is no part of arithmetic")
        at = found.end()
        yield found[1] or found[2] or found[3]


def _number(token: str) -> Fraction:
    digits, _, exponent = token.replace("_", "").lower().partition("e")
    if len(digits) > _LONGEST_NUMBER or abs(int(exponent or 0)) > _LONGEST_NUMBER:
        raise NoExpression("a number is too long")
    return Fraction(digits) * Fraction(10) ** int(exponent or 0)


def _worked_out(operator: str, left: Number, right: Number) -> Number:
    if operator in ("^", "**"):
        return _power(left, right)
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "//":
            return Fraction(left // right)
        case _:
            return left % right


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if base not in (0, 1, -1) and bits * abs(exponent.numerator) > MOST_BITS:
            raise NoExpression("the power is too large to be worked out")
        return Fraction(base**exponent.numerator)
    result: float | complex = float(base) ** float(exponent)
    if isinstance(result, complex):
        raise NoExpression("a root of a negative number isn't real")
    return result


def _factorial(value: Number) -> Fraction:
    if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value <= 1000:
        raise NoExpression("a factorial is worked out of whole numbers from 0 to 1000")
    return Fraction(math.factorial(value.numerator))


def _root(value: Number) -> Number:
    if isinstance(value, Fraction) and value >= 0:
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return Fraction(top, bottom)
    return math.sqrt(value)


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NoExpression("the result isn't finite")
        return value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise NoExpression("a number is too large to be worked out")
    return value


def _whole(value: Number) -> int:
    if value != int(value):
        raise NoExpression("whole numbers are needed there")
    return int(value)


def _rounded(value: Number, digits: Number = Fraction(0)) -> Number:
    """A half goes away from zero, as at school."""
    places = Fraction(10) ** max(-_LONGEST_NUMBER, min(_whole(digits), _LONGEST_NUMBER))
    exact = Fraction(value)
    nearest = Fraction(math.floor(abs(exact) * places + Fraction(1, 2))) / places
    return nearest if exact >= 0 else -nearest


def _choose(of: Number, taken: Number) -> Fraction:
    if max(of, taken) > 1000:
        raise NoExpression("that are too many to choose from")
    return Fraction(math.comb(_whole(of), _whole(taken)))


_CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Number]]] = {
    "abs": (1, 1, abs),
    "sqrt": (1, 1, _root),
    "round": (1, 2, _rounded),
    "floor": (1, 1, lambda value: Fraction(math.floor(value))),
    "ceil": (1, 1, lambda value: Fraction(math.ceil(value))),
    "min": (1, 50, min),
    "max": (1, 50, max),
    "factorial": (1, 1, _factorial),
    "gcd": (2, 50, lambda *values: Fraction(math.gcd(*map(_whole, values)))),
    "lcm": (2, 10, lambda *values: Fraction(math.lcm(*map(_whole, values)))),
    "comb": (2, 2, _choose),
    "mod": (2, 2, lambda left, right: _worked_out("%", left, right)),
    "log": (1, 2, math.log),
    "ln": (1, 1, math.log),
    "log2": (1, 1, math.log2),
    "log10": (1, 1, math.log10),
    "exp": (1, 1, math.exp),
    **{
        name: (1, 1, getattr(math, name))
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "degrees", "radians")
    },
}
