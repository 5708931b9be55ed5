"""The part of the page that holds one run against another."""

from __future__ import annotations

from collections.abc import Sequence

from callgate.validate.comparing import Comparison, Paired
from callgate.validate.html_details import notes
from callgate.validate.html_markup import Markup, named, tag, together
from callgate.validate.html_tracks import RATES, axis, change, legend, track
from callgate.validate.html_words import PERCENTS, chip, percent
from callgate.validate.statistics import SIGNIFICANT

MOST_SHOWN = 200


def compared(comparison: Comparison) -> Markup:
    """An empty dot where a rate was, a full one where it is; what is significant in colour."""
    if not comparison.pairs:
        said = notes(list(comparison.sentences()))
        return tag("section", tag("h2", "Against the run before"), said, id="against")
    changed = sorted(
        (found for found in comparison.by_case if found.better + found.worse),
        key=lambda found: (found.adjusted, found.p, found.worse - found.better),
    )
    unchanged = len(comparison.by_case) - len(changed)
    notable = sum(found.significant for found in comparison.by_case)
    several = len({found.model for found in comparison.overall}) > 1
    parts: list[Markup] = [
        tag("h2", "Against the run before"),
        tag(
            "p",
            f"{comparison.pairs:,} pairs of trials: the same model, mode, case and number. What is more than chance is "
            f"told by McNemar's exact test on the pairs that differ (p < {SIGNIFICANT}), corrected after Holm: "
            f"{len(comparison.overall)} comparisons in all, {len(comparison.by_case)} by case.",
            class_="soft",
        ),
        legend((look, Markup(text)) for look, text in _LOOKS),
        _table(comparison.overall, "model and mode", several),
        tag("h3", f"By case: {notable or 'none'} significant, {unchanged} without any difference"),
    ]
    if notable:
        parts.append(_table(changed[:notable], "case", several))
    if chance := changed[notable:]:
        left_out = len(chance) - MOST_SHOWN
        more = tag("p", f"{left_out} more are not shown.", class_="soft") if left_out > 0 else None
        shown = _table(chance[:MOST_SHOWN], "case", several)
        parts.append(tag("details", tag("summary", f"{len(chance)} that may be chance"), shown, more))
    if any(comparison.unpaired):
        before, after = comparison.unpaired
        parts.append(tag("p", f"Not paired: {before} trials of the run before, {after} of this one.", class_="soft"))
    parts.append(notes(comparison.notes))
    return tag("section", *parts, id="against")


_LOOKS = (("better", "significantly better"), ("worse", "significantly worse"), ("same", "may be chance"))


def _table(rows: Sequence[Paired], heading: str, several: bool) -> Markup:
    head = tag(
        "tr",
        tag("th", heading, scope="col"),
        tag("td", axis(RATES, PERCENTS), class_="wide"),
        tag("th", "before → now", scope="col", class_="figures"),
        tag("th", "better / worse", scope="col", class_="figures"),
        tag("th", "p", scope="col", class_="figures"),
    )
    table = tag(
        "table", tag("thead", head), tag("tbody", *(_row(found, several) for found in rows)), class_="plot several"
    )
    return tag("div", table, class_="scroll", tabindex="0")


def _row(found: Paired, several: bool) -> Markup:
    before, after = found.rates
    said = f"{percent(before)} → {percent(after)}"
    model = tag("small", named(found.model, 60)) if several else None
    name = together(named(found.case), " ", model) if found.case else named(found.model)
    weight = "b" if found.significant else "span"
    return tag(
        "tr",
        tag("th", name, " ", chip(found.mode), scope="row"),
        tag("td", track(RATES, change(before, after, found.verdict, said)), class_="wide"),
        tag("td", said, class_="figures", data_label="rate"),
        tag("td", f"{found.better} / {found.worse}", class_="figures", data_label="better / worse"),
        tag("td", tag(weight, _p(found.adjusted), class_=f"chip {found.verdict}"), class_="figures", data_label="p"),
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
