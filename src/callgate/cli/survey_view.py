"""How `callgate survey` shows what it does, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from callgate.cli.screen import LiveLine, Screen, printable
from callgate.cli.validate_view import in_time
from callgate.validate import (
    GOAL,
    ModelSurvey,
    SurveyProgress,
    agreement,
    agreement_by_capability,
    said_and_seen,
)

LONGEST_EXCHANGE = 1_500
CAPABILITIES = ("parallel", "system", "thinking", "vision", "context")


def show_progress(live: LiveLine, progress: SurveyProgress) -> None:
    seconds = progress.seconds_left
    left = f", {in_time(seconds)} left" if seconds else ""
    now = " · ".join(progress.now.values())
    models = f"{progress.models_done} of {progress.models} models"
    live.show(f"{models}, {progress.made} of {progress.total} trials{left}  {now}")


def show_surveys(surveys: Sequence[ModelSurvey], *, why: bool) -> None:
    screen = Screen()
    if surveys:
        modes = list(dict.fromkeys(mode for survey in surveys for mode in survey.rates))
        heads = ("model", "said", "seen", "agree", *modes, "tokens/s", "calls arrive as; habits; requests taken")
        screen.table([[(head, "dim") for head in heads], *(_row(survey, modes) for survey in surveys)])
        screen.line()
        _show_capabilities(screen, surveys)
    agree, of = agreement(list(surveys))
    if of:
        style = "good" if agree >= GOAL * of else "bad"
        share = f"{agree / of:.0%}".replace("%", " %")
        goal = f"{GOAL:.0%}".replace("%", " %")
        screen.line(
            screen.styled(f"verdict and behaviour agree on {agree} of {of}: {share} (the goal is {goal})", style)
        )
    else:
        screen.line("of no model there is both a verdict and something that was seen")
    others = agreement_by_capability(list(surveys))
    others.pop("tools", None)
    if others:
        shares = ", ".join(f"{name} {agreed} of {tried}" for name, (agreed, tried) in others.items())
        screen.line(screen.styled(f"other capabilities: {shares}", "dim"))
    if why:
        for survey in surveys:
            _show_failures(screen, survey)


def _show_capabilities(screen: Screen, surveys: Sequence[ModelSurvey]) -> None:
    found = {survey.model: survey.capabilities() for survey in surveys}
    names = [
        name for name in CAPABILITIES if any(pair != (None, None) for each in found.values() for pair in [each[name]])
    ]
    if not names:
        return
    rows = [
        [(model, "strong"), *((said_and_seen(*known[name]) or "–", "") for name in names)]
        for model, known in found.items()
    ]
    screen.table([[(head, "dim") for head in ("model", *names)], *rows])
    screen.line()


def _row(survey: ModelSurvey, modes: Sequence[str]) -> list[tuple[str, str]]:
    row = survey.as_row()
    agrees = {True: ("yes", "good"), False: ("no", "bad"), None: ("–", "dim")}[survey.agrees]
    speed = survey.speed.tokens_per_second if survey.speed else None
    parts = [_counts(survey.formats), _counts(survey.habits), ", ".join(f"{k} {v}" for k, v in survey.forms.items())]
    return [
        (survey.model, "strong"),
        (row["said"] or "–", ""),
        (row["seen"] or "–", "bad" if survey.error else ""),
        agrees,
        *((f"{survey.rates[mode]:.0%}" if mode in survey.rates else "n/s", "") for mode in modes),
        (f"{speed:.0f}" if speed else "–", ""),
        ("; ".join(filter(None, parts)), "dim"),
    ]


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counted.items())


def _show_failures(screen: Screen, survey: ModelSurvey) -> None:
    for kind, found in survey.failures.items():
        screen.line()
        head = f"{survey.model} {found.mode} {found.case}: {kind}, {found.count} times"
        screen.line(screen.styled(printable(head), "bad"))
        screen.wrapped(printable(found.reason or ""), indent=2)
        for name, value in (found.exchange or {}).items():
            text = msgspec.json.encode(value).decode()
            cut = f"{text[:LONGEST_EXCHANGE]}…" if len(text) > LONGEST_EXCHANGE else text
            screen.wrapped(printable(f"{name} {cut}"), indent=4, style="dim")
