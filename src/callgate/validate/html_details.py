"""The parts of the page about speed, about failures, and about how the runs were made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from callgate.validate.comparing import short_digest
from callgate.validate.html_markup import Markup, named, tag, together
from callgate.validate.html_tracks import axis, bar, box, scale_for, track
from callgate.validate.html_words import MOST_COLUMNS, chip, head_of, look_of
from callgate.validate.records import Run, Trial
from callgate.validate.shown_json import json_text
from callgate.validate.standings import Column, Standings, failures, tokens_per_second
from callgate.validate.statistics import spread

LONGEST_EXCHANGE = 6000
MOST_KINDS = 60
_SPREAD_HEADINGS = ("median", "90 %", "most")


def speed(found: Standings) -> Markup:
    """Time for a trial, and tokens a second: each trial a dot, the middle half in a box."""
    return tag(
        "section",
        tag("h2", "Speed"),
        tag("p", "Each dot is a trial, the box holds the middle half, the thick line is the median.", class_="soft"),
        tag("h3", "Time for a trial"),
        _spreads(found, lambda trial: trial.ms, in_time),
        tag("h3", "Tokens a second"),
        _spreads(found, tokens_per_second, in_tokens),
        id="speed",
    )


def in_time(milliseconds: float) -> str:
    if milliseconds >= 60_000:
        return f"{milliseconds / 60_000:.3g} min"
    return f"{milliseconds / 1000:.3g} s" if milliseconds >= 1000 else f"{milliseconds:.3g} ms"


def in_tokens(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _spreads(found: Standings, measure: Callable[[Trial], float | None], said: Callable[[float], str]) -> Markup:
    values: dict[Column, list[float]] = {}
    for column in found.columns[:MOST_COLUMNS]:
        measured = (measure(trial) for trial in found.totals[column].trials if trial.passed is not None)
        values[column] = [value for value in measured if value is not None and value > 0]
    scale = scale_for(value for each in values.values() for value in each)
    rows = []
    for column, each in values.items():
        spreads = spread(each)
        if spreads is None:
            continue
        figures = (spreads.median, spreads.p90, spreads.most)
        rows.append(
            tag(
                "tr",
                head_of(column),
                tag("td", track(scale, box(spreads, each, scale, look_of(column.mode))), class_="wide"),
                *(
                    tag("td", said(value), class_="figures", data_label=label)
                    for value, label in zip(figures, _SPREAD_HEADINGS, strict=True)
                ),
            )
        )
    if not rows:
        return tag("p", "Nobody said.", class_="soft")
    head = tag(
        "tr",
        tag("th", "model and mode", scope="col"),
        tag("td", axis(scale, [said(tick) for tick in scale.ticks]), class_="wide"),
        *(tag("th", heading, scope="col", class_="figures") for heading in _SPREAD_HEADINGS),
    )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="plot several"), class_="scroll")


def failed(runs: Sequence[Run]) -> Markup:
    """What went wrong, the most frequent first, each with one exchange as it was."""
    kinds = failures(runs)
    if not kinds:
        return tag("section", tag("h2", "Failures"), tag("p", "There are none."), id="failures")
    most = len(kinds[0][1])
    total = sum(len(trials) for _, trials in kinds)
    rows = [
        tag(
            "tr",
            tag("th", named(kind, 80), scope="row"),
            tag("td", bar(len(trials) / most, "bar"), class_="wide"),
            tag("td", tag("b", len(trials)), " ", tag("small", _where(trials)), class_="figures"),
        )
        for kind, trials in kinds[:MOST_KINDS]
    ]
    return tag(
        "section",
        tag("h2", "Failures"),
        tag("p", f"{total} in all, by kind. Below, one of each as it was.", class_="soft"),
        tag("table", tag("tbody", *rows), class_="plot"),
        *(_exchange(kind, trials) for kind, trials in kinds[:MOST_KINDS]),
        id="failures",
    )


def _where(trials: Sequence[Trial]) -> str:
    models = len({trial.model for trial in trials})
    cases = len({trial.case for trial in trials})
    return f"in {cases} case{'s' * (cases > 1)}" + (f" of {models} models" if models > 1 else "")


def _exchange(kind: str, trials: Sequence[Trial]) -> Markup:
    shown = next((trial for trial in trials if trial.got), trials[0])
    return tag(
        "details",
        tag(
            "summary",
            tag("b", named(kind, 80)),
            " in ",
            named(shown.case, 80),
            ", ",
            named(shown.model),
            " ",
            chip(shown.mode),
            f", trial {shown.trial + 1}",
        ),
        tag("p", named(shown.reason, 1000)) if shown.reason else None,
        tag("div", _sheet("expected", shown.expected), _sheet("got", shown.got), class_="exchange"),
    )


def _sheet(heading: str, value: object) -> Markup:
    text = json_text(value, LONGEST_EXCHANGE, indent=2)
    return tag("div", tag("h4", heading), tag("pre", text, tabindex="0", dir="auto"))


def about(runs: Sequence[Run]) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", named(run.about.model), scope="row"),
            tag("td", named(run.about.backend)),
            tag("td", run.about.at),
            tag("td", f"{run.about.suite}, {run.about.trials} trials, seed {run.about.seed}"),
            tag("td", "yes" if run.about.complete else "no, broken off", class_="yes" if run.about.complete else "no"),
            tag("td", tag("small", named(short_digest(run.about.digest or "not known"), 40), title=run.about.digest)),
            tag("td", run.about.callgate),
        )
        for run in runs[:MOST_COLUMNS]
    ]
    headings = ("model", "backend", "at", "suite", "complete", "digest", "callgate")
    head = tag("thead", tag("tr", *(tag("th", heading, scope="col") for heading in headings)))
    table = tag("table", head, tag("tbody", *rows), class_="plain")
    return tag("section", tag("h2", "How it was made"), tag("div", table, class_="scroll", tabindex="0"), id="about")


def notes(sentences: Sequence[str]) -> Markup:
    return together(*(tag("p", named(sentence, 1000), class_="soft") for sentence in sentences))
