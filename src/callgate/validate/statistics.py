"""What can be said of a handful of trials: how sure a rate is, and whether two runs really differ."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import floor, sqrt
from typing import NamedTuple, TypeVar

Z_95 = 1.959963984540054
"""Standard deviations on either side that hold 95 % of a normal distribution."""
SIGNIFICANT = 0.05

Name = TypeVar("Name", bound=Hashable)


class Rate(NamedTuple):
    """How many of how many."""

    passed: int
    of: int

    @property
    def value(self) -> float | None:
        """`None` where nothing was tried."""
        return self.passed / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true rate lies, with 95 % confidence."""
        return wilson(self.passed, self.of)


def wilson(passed: int, of: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's interval: honest for few trials, and for rates of 0 and 1, where the textbook one has no width."""
    if not 0 <= passed <= of:
        raise ValueError(f"{passed} of {of} is no rate")
    if of == 0:
        return 0.0, 1.0
    rate = passed / of
    middle = (rate + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(rate * (1 - rate) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return (0.0 if passed == 0 else max(0.0, middle - half)), (1.0 if passed == of else min(1.0, middle + half))


def mcnemar(worse: int, better: int) -> float:
    """How likely it is that the pairs that differ split so unevenly by mere chance: exact, two-sided.

    `worse` pairs passed before and fail now, `better` ones the other way round. Pairs that agree say nothing.
    """
    if worse < 0 or better < 0:
        raise ValueError(f"{worse} and {better} are no counts")
    pairs = worse + better
    tail = term = 1
    for taken in range(min(worse, better)):  # in whole numbers: nothing is rounded before the last step
        term = term * (pairs - taken) // (taken + 1)
        tail += term
    return min(1.0, 2 * tail / (1 << pairs))


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """The p-values, larger for having looked so often (Holm's step-down): 0.05 then holds for all of them at once."""
    adjusted: dict[Name, float] = {}
    largest = 0.0
    for place, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, p * (len(p_values) - place)))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of them lies, interpolated between two neighbours. `values` are sorted."""
    if not values or not 0 <= share <= 1:
        raise ValueError(f"there is no quantile {share} of {len(values)} values")
    place = share * (len(values) - 1)
    below = floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


class Spread(NamedTuple):
    """How a measure is distributed."""

    of: int
    least: float
    quarter: float
    median: float
    three_quarters: float
    p90: float
    most: float


def spread(values: Sequence[float]) -> Spread | None:
    """`None` where there are none."""
    ordered = sorted(values)
    if not ordered:
        return None
    return Spread(len(ordered), *(quantile(ordered, share) for share in (0, 0.25, 0.5, 0.75, 0.9, 1)))
