"""Plots that are rows of a table: each a track that is as wide as it may be, beside its label and its figures.

Positions are in per cent, so that a plot fits any screen without its dots or letters changing; and where pictures can't
be seen, the figures still can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from callgate.validate.html_markup import Markup, tag, together
from callgate.validate.statistics import Rate, Spread, quantile

LANE = 22
MOST_DOTS = 120
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_STEPS = (1, 2, 5)
_FEW_TICKS = 4


class Scale(NamedTuple):
    """From values to per cent of a track's width."""

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def place(self, value: float) -> str:
        if self.logarithmic:
            share = (log10(max(value, self.low)) - log10(self.low)) / (log10(self.high) - log10(self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return f"{max(0.0, min(1.0, share)) * 100:.2f}%"


RATES = Scale(0.0, 1.0, QUARTERS)


def scale_for(values: Iterable[float]) -> Scale:
    """A logarithmic one that holds them all: speeds of models lie orders of magnitude apart."""
    positive = [value for value in values if value > 0] or [1.0]
    first, last = max(-6, floor(log10(min(positive)))), max(-5, ceil(log10(max(positive))))
    marks = [step * 10.0**power for power in range(first, last + 1) for step in _STEPS]
    low = max((mark for mark in marks if mark <= min(positive)), default=marks[0])
    high = min((mark for mark in marks if mark >= max(positive) and mark > low), default=low * 10)
    inside = [mark for mark in marks if low <= mark <= high]
    if len(inside) > 2 * _FEW_TICKS:
        inside = [mark for mark in inside if abs(log10(mark) - round(log10(mark))) < 1e-9] or inside
    return Scale(low, high, tuple(inside), logarithmic=True)


def axis(scale: Scale, labels: Sequence[str]) -> Markup:
    """The letters under, or over, the tracks."""
    last = len(scale.ticks) - 1
    texts = [
        tag(
            "text",
            label,
            x=scale.place(tick),
            y="13",
            text_anchor="start" if place == 0 else "end" if place == last else "middle",
        )
        for place, (tick, label) in enumerate(zip(scale.ticks, labels, strict=True))
    ]
    return tag("svg", *texts, class_="axis", height="18", aria_hidden="true")


def track(scale: Scale, *marks: Markup, lanes: int = 1) -> Markup:
    height = LANE * max(1, lanes)
    grid = [
        tag("line", x1=scale.place(tick), x2=scale.place(tick), y1="0", y2=height, class_="grid")
        for tick in scale.ticks
    ]
    return tag("svg", *grid, *marks, class_="track", height=height, aria_hidden="true")


def whisker(rate: Rate, look: str, lane: int = 0, about: str = "") -> Markup:
    """A dot where the rate is, and a line where it may truly be."""
    if rate.value is None:
        return Markup("")
    middle = lane * LANE + LANE / 2
    low, high = rate.interval
    return tag(
        "g",
        tag("title", about),
        tag("line", x1=RATES.place(low), x2=RATES.place(high), y1=middle, y2=middle, class_="whisker"),
        *(
            tag("line", x1=RATES.place(end), x2=RATES.place(end), y1=middle - 4, y2=middle + 4, class_="whisker")
            for end in (low, high)
        ),
        tag("circle", cx=RATES.place(rate.value), cy=middle, r="5", class_="dot"),
        class_=look,
    )


def change(before: Rate, after: Rate, look: str, about: str) -> Markup:
    """From an empty dot to a full one."""
    if before.value is None or after.value is None:
        return Markup("")
    middle = LANE / 2
    ends = {"x1": RATES.place(before.value), "x2": RATES.place(after.value)}
    return tag(
        "g",
        tag("title", about),
        tag("line", y1=middle, y2=middle, class_="change", **ends),
        tag("circle", cx=ends["x1"], cy=middle, r="4.5", class_="was"),
        tag("circle", cx=ends["x2"], cy=middle, r="5", class_="dot"),
        class_=look,
    )


def box(found: Spread, values: Sequence[float], scale: Scale, look: str) -> Markup:
    """Every value a dot, up to a number; the middle half in a box, its median a line."""
    middle = LANE / 2
    ordered = sorted(values)
    if len(ordered) > MOST_DOTS:
        ordered = [quantile(ordered, number / (MOST_DOTS - 1)) for number in range(MOST_DOTS)]
    dots = [
        # Golden steps spread neighbours up and down without chance, so that the same run makes the same page.
        tag("circle", cx=scale.place(value), cy=f"{middle + 12 * ((number * 0.618) % 1 - 0.5):.1f}", r="2")
        for number, value in enumerate(ordered)
    ]
    left, right = scale.place(found.quarter), scale.place(found.three_quarters)
    width = f"{max(0.3, float(right[:-1]) - float(left[:-1])):.2f}%"
    median = scale.place(found.median)
    return tag(
        "g",
        tag("g", *dots, class_="dots"),
        tag("rect", x=left, y=middle - 7, width=width, height="14", rx="3", class_="box"),
        tag("line", x1=median, x2=median, y1=middle - 8, y2=middle + 8, class_="median"),
        class_=look,
    )


def bar(share: float, look: str) -> Markup:
    width = f"{max(0.4, min(100.0, share * 100)):.2f}%"
    return tag(
        "svg",
        tag("rect", x="0", y="4", width=width, height="14", rx="3", class_=look),
        class_="track",
        height=LANE,
        aria_hidden="true",
    )


def small_whisker(rate: Rate) -> Markup:
    """For the cell of a matrix."""
    if rate.value is None:
        return Markup("")
    low, high = (RATES.place(end) for end in rate.interval)
    return tag(
        "svg",
        tag("line", x1=low, x2=high, y1="4", y2="4"),
        tag("circle", cx=RATES.place(rate.value), cy="4", r="2.6"),
        class_="mini",
        height="8",
        aria_hidden="true",
    )


def legend(items: Iterable[tuple[str, Markup]]) -> Markup:
    """Looks and what they stand for."""
    return tag(
        "p",
        *(
            tag("span", tag("svg", tag("circle", cx="6", cy="6", r="5"), width="12", height="12", class_=look), text)
            for look, text in items
        ),
        class_="legend",
    )


def lines(parts: Iterable[Markup]) -> Markup:
    return together(*(tag("div", part, class_="lane") for part in parts))
