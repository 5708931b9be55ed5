"""What a survey found of one model: what was said of it, what it did, and how that agrees."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from callgate.validate.records import RunAbout

SUITE = "survey"
GOAL = 0.95
"""How often verdict and behaviour should agree."""
Taken = Literal["calls", "taken", "ignored", "cut-off", "refused", "failed"]
"""A call came of it; it was taken, and the answer is empty; it was taken, and words came; it still talked when it had
to stop, so that a call might have come; the server refused it; it couldn't be tried."""


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What callgate says of the model before it asks it anything."""

    tools: str
    """yes, no or unknown."""
    native_route: str
    mode: str
    """How tools would reach it: native, emulated or off."""
    source: str | None = None
    """Who decided on tools."""
    why: str | None = None
    guess: bool = False
    parallel: bool | None = None
    system: bool | None = None
    thinking: bool | None = None
    vision: bool | None = None
    context: int | None = None
    parameters: str | None = None
    quantization: str | None = None


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the model did. `None`: that couldn't be seen."""

    tools: bool | None = None
    """It called tools natively, more often rightly than not."""
    text_calls: bool | None = None
    """Its calls came as text."""
    parallel: bool | None = None
    system: bool | None = None


class Failures(msgspec.Struct, frozen=True, kw_only=True):
    """Of one kind."""

    count: int
    case: str
    mode: str
    reason: str | None = None
    exchange: Any = None
    """One of them, raw: what was sent, and what came."""


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """Medians."""

    ms: float
    first_token_ms: float | None = None
    tokens_per_second: float | None = None


class ModelSurvey(msgspec.Struct, frozen=True, kw_only=True):
    about: RunAbout
    shown: Shown = Shown()
    declared: Declared | None = None
    """`None`: nothing was said of it."""
    rates: dict[str, float] = {}
    """What part of the trials passed, by mode."""
    formats: dict[str, int] = {}
    """In which its calls arrived: `native`, or that of a text."""
    habits: dict[str, int] = {}
    """What had to be mended in its calls, by rule, and keys that nobody asked for."""
    forms: dict[str, Taken] = {}
    """Which forms of a request its server takes."""
    failures: dict[str, Failures] = {}
    """By kind."""
    speed: Speed | None = None
    error: dict[str, Any] | None = None
    """Why it couldn't be surveyed."""

    @property
    def model(self) -> str:
        return self.about.model

    @property
    def agrees(self) -> bool | None:
        """Whether verdict and behaviour are the same; `None` where there is no verdict, or nothing was seen."""
        if self.declared is None or self.declared.tools == "unknown" or self.shown.tools is None:
            return None
        return (self.declared.mode == "native") == self.shown.tools

    def capabilities(self) -> dict[str, tuple[Any, Any]]:
        """What was said, and what was seen; `None`: nothing."""
        said, seen = self.declared, self.shown
        known = said is not None and said.tools != "unknown"
        return {
            "tools": (said.mode == "native" if said and known else None, seen.tools),
            "parallel": (said.parallel if said else None, seen.parallel),
            "system": (said.system if said else None, seen.system),
            "thinking": (said.thinking if said else None, None),
            "vision": (said.vision if said else None, None),
            "context": (said.context if said else None, None),
        }

    @property
    def seen(self) -> str | None:
        seen = _seen(self.shown)
        return seen if self.about.complete else f"{seen or 'nothing'}, so far"

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return {"type": "survey", "model": self.model, "agrees": self.agrees, **fields}

    def as_row(self) -> dict[str, Any]:
        """The same in a few words, for a table."""
        declared, speed = self.declared, self.speed
        return {
            "model": self.model,
            "agrees": self.agrees,
            "said": declared.tools if declared else None,
            "by": declared.source if declared else None,
            "seen": self.error["message"] if self.error else self.seen,
            **{name: said_and_seen(*pair) for name, pair in self.capabilities().items() if name != "tools"},
            **{f"{mode} passed": f"{rate:.0%}" for mode, rate in self.rates.items()},
            "calls arrive": self.formats,
            "habits": self.habits,
            "requests": self.forms,
            "failures": {kind: found.count for kind, found in self.failures.items()},
            "tokens/s": speed.tokens_per_second if speed else None,
            "first token ms": speed.first_token_ms if speed else None,
        }


def agreement(surveys: list[ModelSurvey]) -> tuple[int, int]:
    """On how many models verdict and behaviour agree, and of how many that is."""
    known = [survey.agrees for survey in surveys if survey.agrees is not None]
    return sum(known), len(known)


def agreement_by_capability(surveys: list[ModelSurvey]) -> dict[str, tuple[int, int]]:
    """The same for each capability of which something was both said and seen."""
    counts: dict[str, tuple[int, int]] = {}
    for survey in surveys:
        for name, (said, seen) in survey.capabilities().items():
            if said is not None and seen is not None:
                agree, of = counts.get(name, (0, 0))
                counts[name] = agree + (said == seen), of + 1
    return counts


def said_and_seen(said: Any, seen: Any) -> str | None:
    parts = [f"{how} {_word(what)}" for how, what in (("said", said), ("seen", seen)) if what is not None]
    return ", ".join(parts) or None


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:,}"


def survey_as_json(surveys: list[ModelSurvey]) -> dict[str, Any]:
    """All of it, as the page shows it."""
    agree, of = agreement(surveys)
    return {
        "agreement": {"agree": agree, "of": of},
        "by_capability": {
            name: {"agree": agree, "of": of} for name, (agree, of) in agreement_by_capability(surveys).items()
        },
        "models": [survey.as_row() for survey in surveys],
        "exchanges": [
            {"model": survey.model, "kind": kind, **msgspec.structs.asdict(found)}
            for survey in surveys
            for kind, found in survey.failures.items()
        ],
    }


def _seen(shown: Shown) -> str | None:
    if shown.tools is None:
        return None
    if shown.tools:
        return "calls tools"
    return "calls tools in its text" if shown.text_calls else "calls none"
