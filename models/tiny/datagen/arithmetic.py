"""Arithmetic in words, and the expression that a calculator gets for it."""

from __future__ import annotations

import json

from datagen.lists import NUMBER_WORDS, split
from datagen.values import Values

TENS = split("twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety")
TEENS = split("thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen")
SMALL = {number: word for number, word in enumerate([*NUMBER_WORDS, *TEENS]) if number}
SMALL |= {10 * number: word for number, word in enumerate(TENS, 2)}
SMALL |= {10 * number + ones: f"{word}-{SMALL[ones]}" for number, word in enumerate(TENS, 2) for ones in range(1, 10)}

PHRASES = [
    ("{a} plus {b}", "{a} + {b}"),
    ("{a} plus {b}", "{a} + {b}"),
    ("{a} added to {b}", "{a} + {b}"),
    ("the sum of {a} and {b}", "{a} + {b}"),
    ("{a} and {b} together", "{a} + {b}"),
    ("the total of {a} and {b}", "{a} + {b}"),
    ("{a} increased by {b}", "{a} + {b}"),
    ("{a} more than {b}", "{b} + {a}"),
    ("{a} minus {b}", "{a} - {b}"),
    ("{a} minus {b}", "{a} - {b}"),
    ("{a} less {b}", "{a} - {b}"),
    ("{a} decreased by {b}", "{a} - {b}"),
    ("{a} reduced by {b}", "{a} - {b}"),
    ("the difference between {a} and {b}", "{a} - {b}"),
    ("the difference of {a} and {b}", "{a} - {b}"),
    ("{a} less than {b}", "{b} - {a}"),
    ("{a} times {b}", "{a} * {b}"),
    ("{a} times {b}", "{a} * {b}"),
    ("{a} times {b}", "{a} * {b}"),
    ("{a} multiplied by {b}", "{a} * {b}"),
    ("the product of {a} and {b}", "{a} * {b}"),
    ("{a} x {b}", "{a} * {b}"),
    ("{a}x{b}", "{a} * {b}"),
    ("{a} \u00d7 {b}", "{a} * {b}"),
    ("{a} divided by {b}", "{a} / {b}"),
    ("{a} divided by {b}", "{a} / {b}"),
    ("{a} over {b}", "{a} / {b}"),
    ("the quotient of {a} and {b}", "{a} / {b}"),
    ("{a} \u00f7 {b}", "{a} / {b}"),
    ("{i} to the power of {j}", "{i} ** {j}"),
    ("{i} raised to the power of {j}", "{i} ** {j}"),
    ("{i} to the {j}th power", "{i} ** {j}"),
    ("{i} squared", "{i} ** 2"),
    ("the square of {i}", "{i} ** 2"),
    ("{i} cubed", "{i} ** 3"),
    ("the square root of {i}", "sqrt({i})"),
    ("the remainder of {i} divided by {j}", "{i} % {j}"),
    ("{i} modulo {j}", "{i} % {j}"),
    ("{i} mod {j}", "{i} % {j}"),
    ("half of {a}", "{a} / 2"),
    ("half of {a}", "{a} / 2"),
    ("one half of {a}", "{a} / 2"),
    ("a third of {a}", "{a} / 3"),
    ("one third of {a}", "{a} / 3"),
    ("a quarter of {a}", "{a} / 4"),
    ("a fifth of {a}", "{a} / 5"),
    ("a tenth of {a}", "{a} / 10"),
    ("twice {a}", "{a} * 2"),
    ("double {a}", "{a} * 2"),
    ("the double of {a}", "{a} * 2"),
    ("triple {a}", "{a} * 3"),
    ("three times {a}", "3 * {a}"),
    ("{i} percent of {a}", "{i} / 100 * {a}"),
    ("{i}% of {a}", "{i} / 100 * {a}"),
    ("{a} plus {b} plus {c}", "{a} + {b} + {c}"),
    ("the sum of {a}, {b} and {c}", "{a} + {b} + {c}"),
    ("the product of {a}, {b} and {c}", "{a} * {b} * {c}"),
    ("{a} times {b} plus {c}", "{a} * {b} + {c}"),
    ("{a} times {b} minus {c}", "{a} * {b} - {c}"),
    ("{a} plus {b} times {c}", "{a} + {b} * {c}"),
    ("{a} times {b} times {c}", "{a} * {b} * {c}"),
    ("{a} plus {b} minus {c}", "{a} + {b} - {c}"),
    ("{a} minus {b} minus {c}", "{a} - {b} - {c}"),
    ("{a} divided by {b} plus {c}", "{a} / {b} + {c}"),
    ("the sum of {a} and {b} times {c}", "({a} + {b}) * {c}"),
    ("the sum of {a} and {b}, divided by {c}", "({a} + {b}) / {c}"),
    ("the average of {a} and {b}", "({a} + {b}) / 2"),
    ("the mean of {a}, {b} and {c}", "({a} + {b} + {c}) / 3"),
]
"""What a number can be called, and the expression."""

ORDERS = [
    ("add {a} and {b}", "{a} + {b}"),
    ("add {a} and {b}", "{a} + {b}"),
    ("add {a} to {b}", "{a} + {b}"),
    ("add up {a} and {b}", "{a} + {b}"),
    ("add the numbers {a} and {b}", "{a} + {b}"),
    ("sum {a} and {b}", "{a} + {b}"),
    ("add {a}, {b} and {c}", "{a} + {b} + {c}"),
    ("subtract {b} from {a}", "{a} - {b}"),
    ("subtract {b} from {a}", "{a} - {b}"),
    ("take {b} from {a}", "{a} - {b}"),
    ("multiply {a} by {b}", "{a} * {b}"),
    ("multiply {a} by {b}", "{a} * {b}"),
    ("multiply {a} and {b}", "{a} * {b}"),
    ("divide {a} by {b}", "{a} / {b}"),
    ("divide {a} by {b}", "{a} / {b}"),
    ("double {a}", "{a} * 2"),
    ("halve {a}", "{a} / 2"),
    ("square {i}", "{i} ** 2"),
    ("raise {i} to the power of {j}", "{i} ** {j}"),
    ("take the square root of {i}", "sqrt({i})"),
    ("add {a} and {b} and multiply by {c}", "({a} + {b}) * {c}"),
    ("add {a} and {b}, then divide by {c}", "({a} + {b}) / {c}"),
    ("multiply {a} by {b} and add {c}", "{a} * {b} + {c}"),
    ("multiply {a} by {b}, then subtract {c}", "{a} * {b} - {c}"),
    ("divide {a} by {b} and add {c}", "{a} / {b} + {c}"),
]
"""What one can be told to do with numbers."""


class Arithmetic(Values):
    """Numbers here never have four digits before the point: those are left to the evaluation."""

    def said_sum(self):
        """An expression, and words for its value."""
        return self.worded(*self.pick(PHRASES), self.operand)

    def ordered_sum(self):
        """An expression, and an order to work it out."""
        return self.worded(*self.pick(ORDERS), self.operand)

    def worded(self, phrase, expression, operand):
        numbers = {name: operand() for name in "abc"}
        numbers |= {"i": self.between(2, 999), "j": self.between(2, 12)}
        in_words = self.chance(0.15)
        said = {name: self._said(number, in_words) for name, number in numbers.items()}
        if "{a}x" in phrase or "percent" in expression or "th power" in phrase:
            said = {name: json.dumps(number) for name, number in numbers.items()}
        return (
            expression.format(**{name: json.dumps(number) for name, number in numbers.items()}),
            phrase.format(**said),
        )

    def operand(self):
        k = self.rng.random()
        if k < 0.5:
            return self.between(1, 99)
        if k < 0.75:
            return self.between(1, 999)
        if k < 0.82:
            return self.between(10_000, self.pick([99_999, 999_999, 9_999_999]))
        return self.decimal(self.between(1, 99_999), self.pick([100, 1000]))

    def _said(self, number, in_words):
        if in_words and number in SMALL and self.chance(0.8):
            return SMALL[number]
        if isinstance(number, int) and number >= 10_000 and self.chance(0.1):
            return f"{number:,}"
        return json.dumps(number)
