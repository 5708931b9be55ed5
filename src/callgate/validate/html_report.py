"""A run as one page that needs nothing else: no network, no script, no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgate.validate.comparing import Comparison
from callgate.validate.html_comparison import compared
from callgate.validate.html_details import about, failed, in_time, in_tokens, speed
from callgate.validate.html_markup import Markup, named, tag, together
from callgate.validate.html_rates import by_case, overall
from callgate.validate.html_style import POLICY, STYLE
from callgate.validate.html_survey import surveyed
from callgate.validate.html_words import percent
from callgate.validate.records import Run, Trial
from callgate.validate.standings import Standings, standings, tokens_per_second
from callgate.validate.statistics import Rate, quantile


def html_page(
    runs: Sequence[Run], comparison: Comparison | None = None, *, survey: Mapping[str, Any] | None = None
) -> str:
    """The whole page. `survey`: what `html_survey.surveyed` shows."""
    found = standings(runs)
    sections: list[tuple[str, str, Markup]] = []
    if survey:
        sections.append(("survey", "Verdict and behaviour", surveyed(survey)))
    if found.columns:
        sections.append(("all", "In all", overall(found)))
    if comparison is not None:
        sections.append(("against", "Against the run before", compared(comparison)))
    if found.columns:
        sections += [
            ("cases", "Case by case", by_case(found)),
            ("failures", "Failures", failed(runs)),
            ("speed", "Speed", speed(found)),
        ]
    if runs:
        sections.append(("about", "How it was made", about(runs)))
    title = _title(found, survey)
    page = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("title", f"{title} – callgate"),
            tag("style", Markup(STYLE)),
        ),
        tag(
            "body",
            tag(
                "header",
                tag("p", "callgate survey" if survey else "callgate validate", class_="kicker"),
                tag("h1", named(title)),
                _cards(runs, found),
                tag("nav", *(tag("a", name, href=f"#{place}") for place, name, _ in sections), aria_label="Sections"),
            ),
            tag("main", *(section for _, _, section in sections)),
            tag("footer", tag("p", _ending(runs))),
        ),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{page}\n"


def _title(found: Standings, survey: Mapping[str, Any] | None) -> str:
    if survey and (count := len(survey.get("models", ()))) != 1:
        return f"{_plural(count, 'model')}, said and seen" if count else "Nothing was tried"
    if not found.columns:
        return "1 model, said and seen" if survey else "Nothing was tried"
    models = found.models
    if len(models) > 1:
        return f"{len(models)} models, put to the proof"
    return f"What {models[0]} can do"


def _cards(runs: Sequence[Run], found: Standings) -> Markup:
    trials = [trial for run in runs for trial in run.trials]
    if not trials:
        return Markup("")
    cards = [_passed_card(trials, found), _card("trials", f"{len(trials):,}", _scope(found))]
    unsupported = sum(trial.passed is None for trial in trials)
    if unsupported:
        cards.append(
            _card("not supported", f"{unsupported:,}", "by the model or its server; neither passed nor failed")
        )
    times = sorted(trial.ms for trial in trials if trial.passed is not None)
    if times:
        cards.append(
            _card("median time", in_time(quantile(times, 0.5)), f"90 % within {in_time(quantile(times, 0.9))}")
        )
    speeds = sorted(rate for trial in trials if (rate := tokens_per_second(trial)) is not None)
    if speeds and len(found.models) == 1:
        cards.append(_card("tokens a second", in_tokens(quantile(speeds, 0.5)), "median, while it writes"))
    return tag("dl", *cards, class_="cards")


def _passed_card(trials: Sequence[Trial], found: Standings) -> Markup:
    if len(found.columns) == 1:
        rate = found.totals[found.columns[0]].rate
        low, high = rate.interval
        return _card("passed", percent(rate), f"{rate.passed} of {rate.of}; truly {low:.0%} to {high:.0%}")
    with_tools = [column for column in found.columns if column.mode != "off"] or found.columns
    best = max(with_tools, key=lambda column: (found.totals[column].rate.value or 0, found.totals[column].rate.of))
    if len(found.models) == 1:
        judged = [trial for trial in trials if trial.passed is not None]
        rate = Rate(sum(trial.passed is True for trial in judged), len(judged))
        return _card("passed", percent(rate), f"{rate.passed} of {rate.of}, in all modes together")
    return _card("best", percent(found.totals[best].rate), named(str(best), 60))


def _scope(found: Standings) -> str:
    modes = {column.mode for column in found.columns}
    return f"{_plural(len(found.rows), 'case')}, {_plural(len(modes), 'mode')}, {_plural(len(found.models), 'model')}"


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _card(name: str, figure: str, more: str | Markup) -> Markup:
    return tag("div", tag("dt", name), tag("dd", figure, tag("small", more)))


def _ending(runs: Sequence[Run]) -> Markup:
    versions = ", ".join(sorted({run.about.callgate for run in runs}))
    days = sorted({run.about.at[:10] for run in runs})
    when = f", {days[0]}" + (f" to {days[-1]}" if len(days) > 1 else "") if days else ""
    return together("Made by callgate ", named(versions, 60), named(when, 60))
