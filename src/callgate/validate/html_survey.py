"""The part of the page that a survey adds: what was said of each model, and what it then did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callgate.validate.html_markup import Markup, named, tag, together
from callgate.validate.html_tracks import RATES, axis, track, whisker
from callgate.validate.html_words import PERCENTS, in_words, percent
from callgate.validate.shown_json import json_text
from callgate.validate.statistics import Rate

GOAL = 0.95
MOST_MODELS = 500
MOST_FIELDS = 30
LONGEST_WORD = 160
LONGEST_EXCHANGE = 6000
_GROUPS: tuple[tuple[str | None, frozenset[str]], ...] = (
    (None, frozenset({"said", "by", "seen", "tokens/s", "first token ms"})),
    ("Other capabilities, said and seen", frozenset({"parallel", "system", "thinking", "vision", "context"})),
    ("Its calls", frozenset({"calls arrive", "habits"})),
    ("Requests that its server takes, and failures", frozenset({"requests", "failures"})),
)
"""Of fields, each a table."""


def surveyed(survey: Mapping[str, Any]) -> Markup:
    """`survey`: {"agreement": {"agree": 11, "of": 12}, "models": [{"model": "tiny", …}]}.

    A model may have any fields: a truth value becomes yes or no, an object its names and values. `agrees` says whether
    verdict and behaviour are the same; where `agreement` isn't given, it is counted from there.
    Under `exchanges` there may be failures as they were:
    [{"model": "tiny", "kind": "no-call", "case": "one-call", "reason": …, "exchange": …}].
    """
    models = [each for each in survey.get("models", ()) if isinstance(each, Mapping)][:MOST_MODELS]
    rate = _agreement(survey, models)
    parts = [tag("h2", "Verdict and behaviour")]
    if rate.value is not None:
        reached = "reached" if rate.value >= GOAL else "not reached"
        head = tag("tr", tag("th"), tag("td", axis(RATES, PERCENTS), class_="wide"), tag("th", class_="figures"))
        row = tag(
            "tr",
            tag("th", "they agree", scope="row"),
            tag("td", track(RATES, whisker(rate, "emulated", about=in_words(rate))), class_="wide"),
            tag(
                "td", tag("b", percent(rate)), " ", tag("small", f"{rate.passed} of {rate.of} models"), class_="figures"
            ),
        )
        parts.append(tag("p", f"How often what callgate says of a model is what it does. {_goal()}: {reached}."))
        parts.append(tag("table", tag("thead", head), tag("tbody", row), class_="plot"))
    by = survey.get("by_capability")
    if isinstance(by, Mapping) and len(by) > 1:
        shares = [f"{name} {_share(each)}" for name, each in by.items() if isinstance(each, Mapping)]
        parts.append(tag("p", "By capability: ", named("; ".join(shares), 500), class_="soft"))
    parts.extend(_tables(models))
    exchanges = [each for each in survey.get("exchanges", ()) if isinstance(each, Mapping)]
    if exchanges:
        parts.append(tag("h3", "Failures, one of each kind as it was"))
        parts.extend(map(_exchange, exchanges[:MOST_MODELS]))
    return tag("section", *parts, id="survey")


def _exchange(found: Mapping[str, Any]) -> Markup:
    words = [str(found[name]) for name in ("model", "mode", "case") if found.get(name)]
    count = f" ({found['count']})" if isinstance(found.get("count"), int) else ""
    return tag(
        "details",
        tag("summary", tag("b", named(str(found.get("kind", "failed")), 80)), count, " ", named(", ".join(words))),
        tag("p", named(str(found["reason"]), 1000)) if found.get("reason") else None,
        tag("pre", json_text(found.get("exchange"), LONGEST_EXCHANGE, indent=2), tabindex="0", dir="auto"),
    )


def _goal() -> str:
    return f"The goal of {GOAL:.0%}".replace("%", " %")


def _agreement(survey: Mapping[str, Any], models: Sequence[Mapping[str, Any]]) -> Rate:
    given = survey.get("agreement")
    if isinstance(given, Mapping):
        agree, of = given.get("agree"), given.get("of")
        if isinstance(agree, int) and isinstance(of, int) and 0 <= agree <= of:
            return Rate(agree, of)
    known = [model["agrees"] for model in models if isinstance(model.get("agrees"), bool)]
    return Rate(sum(known), len(known))


def _share(found: Mapping[str, Any]) -> str:
    return f"{found.get('agree')} of {found.get('of')}"


def _tables(models: Sequence[Mapping[str, Any]]) -> Iterator[Markup]:
    """Several that fit a page, one below the other, rather than one that doesn't."""
    fields = dict.fromkeys(str(name) for model in models for name in model if name not in ("model", "agrees"))
    left = list(fields)[:MOST_FIELDS]
    for heading, names in _GROUPS:
        shown = [name for name in left if name in names or (heading is None and name.endswith(" passed"))]
        left = [name for name in left if name not in shown]
        if shown or (heading is None and models):
            yield from _headed(heading, models, shown)
    if left:
        yield from _headed("More", models, left)


def _headed(heading: str | None, models: Sequence[Mapping[str, Any]], shown: list[str]) -> Iterator[Markup]:
    if heading:
        yield tag("h3", heading)
    yield _table(models, shown, with_agreement=heading is None)


def _table(models: Sequence[Mapping[str, Any]], shown: list[str], *, with_agreement: bool) -> Markup:
    heads = ["model", *(["agree"] if with_agreement else []), *shown]
    head = tag("thead", tag("tr", *(tag("th", named(name, 60), scope="col") for name in heads)))
    rows = [
        tag(
            "tr",
            tag("th", named(str(model.get("model", "?"))), scope="row"),
            tag("td", _agrees(model.get("agrees"))) if with_agreement else None,
            *(tag("td", _value(model.get(name))) for name in shown),
        )
        for model in models
    ]
    table = tag("table", head, tag("tbody", *rows), class_="plain models")
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Models")


def _agrees(answer: object) -> Markup:
    if isinstance(answer, bool):
        return tag("span", "yes" if answer else "no", class_="yes" if answer else "no")
    return tag("span", "not known", class_="soft")


def _value(value: object) -> Markup:
    match value:
        case None | "":
            return tag("span", "–", class_="soft")
        case bool():
            return together("yes" if value else "no")
        case float():
            return together(f"{value:.3g}")
        case Mapping():
            pairs = [f"{name}: {_word(each)}" for name, each in list(value.items())[:MOST_FIELDS]]
            return together(*(tag("div", named(pair, LONGEST_WORD)) for pair in pairs)) if pairs else _value(None)
        case list() | tuple():
            return (
                named(", ".join(_word(each) for each in value[:MOST_FIELDS]), LONGEST_WORD) if value else _value(None)
            )
    return named(str(value), LONGEST_WORD)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
