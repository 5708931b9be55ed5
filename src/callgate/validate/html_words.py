"""Rates and modes as the page spells them."""

from __future__ import annotations

from collections.abc import Sequence

from callgate.validate.html_markup import Markup, named, tag
from callgate.validate.records import MODES
from callgate.validate.standings import Column
from callgate.validate.statistics import Rate

MOST_ROWS = 400
MOST_COLUMNS = 120
PERCENTS = ("0 %", "25 %", "50 %", "75 %", "100 %")


def look_of(mode: str) -> str:
    known: Sequence[str] = MODES
    return mode if mode in known else "other"


def percent(rate: Rate) -> str:
    """Never 100 % where one failed, nor 0 % where one passed."""
    if rate.value is None:
        return "–"
    whole = round(rate.value * 100)
    if rate.passed < rate.of:
        whole = min(whole, 99)
    if rate.passed:
        whole = max(whole, 1)
    return f"{whole} %"


def in_words(rate: Rate) -> str:
    low, high = rate.interval
    return f"{percent(rate)}, {rate.passed} of {rate.of}; truly between {low:.0%} and {high:.0%} (95 %)"


def chip(mode: str) -> Markup:
    return tag("span", named(mode, 40), class_=f"chip {look_of(mode)}")


def head_of(column: Column) -> Markup:
    return tag("th", named(column.model), " ", chip(column.mode), scope="row")
