"""A survey of one model: its trials, and what they show of its calls, its server and its speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from statistics import median
from typing import Any

import msgspec

from callgate.detect import Finding, decisive, weigh
from callgate.gate import mode_of, recover
from callgate.runtime import error_as_json
from callgate.settings import Settings
from callgate.validate.case_files import chosen_cases
from callgate.validate.heard import Heard
from callgate.validate.keeping import rates_by_mode
from callgate.validate.moded_session import ModedSession
from callgate.validate.records import Mode, Run, Trial
from callgate.validate.running import Validation, Wanted
from callgate.validate.standings import tokens_per_second
from callgate.validate.survey_forms import forms_taken
from callgate.validate.survey_records import SUITE, Declared, Failures, ModelSurvey, Shown, Speed, Taken
from callgate.validate.survey_state import Noted
from callgate.validate.trying import TIMEOUT
from callgate.vocabulary import CallgateError, ChatRequest, ModelRef, Source, Tool

CASES = (
    "one-call",
    "one-of-four",
    "parallel-calls",
    "integer-argument",
    "nested-argument",
    "result-used",
    "small-talk",
    "valid-call",
    "plain-text",
    "system-prompt",
)
"""Enough to see what a model does, and few enough for many models."""
TRIALS = 2
MODES: tuple[Mode, ...] = ("native", "emulated")
CALLING = frozenset({"toolCall", "toolSelection"})
"""Checks that show whether a model calls tools: easy ones."""
MISTAKEN_CALLS = frozenset(
    {"wrong-arguments", "invalid-arguments", "missing-call", "extra-call", "wrong-order", "wrong-tool"}
)
"""Kinds of failure that are calls of tools that were offered, all the same."""
MOST_KINDS = 50
HALF = 0.5
_AFTERWARDS = (Source.SESSION, Source.USER_CONFIRMED, Source.OBSERVED)


def survey_wanted(trials: int = TRIALS, modes: tuple[Mode, ...] = MODES, seed: int = 0) -> Wanted:
    return Wanted(cases=chosen_cases(only=CASES), suite=SUITE, trials=trials, modes=modes, seed=seed)


class ModelSurveying:
    """Ask for `trials`, then for the `survey` and the `run`. What fails is in the survey."""

    def __init__(self, ref: ModelRef, wanted: Wanted, settings: Settings, begun: Sequence[Noted] = ()) -> None:
        """`begun`: what was done already, and isn't tried again."""
        self.ref = ref
        self._validation = Validation(
            ref,
            wanted,
            settings,
            on_exchange=self._hear,
            at_end=self._ask_more,
            done=(noted.trial for noted in begun),
        )
        self.noted: Noted | None = None
        """The last trial, and what was seen on the way."""
        self._formats: Counter[str] = Counter()
        self._habits: Counter[str] = Counter()
        self._formats_now: Counter[str] = Counter()
        self._habits_now: Counter[str] = Counter()
        self._forms: dict[str, Taken] = {}
        self._failures: dict[str, Failures] = {}
        self._error: CallgateError | None = None
        for noted in begun:
            self._note(noted)

    @property
    def total(self) -> int | None:
        return self._validation.total

    async def trials(self) -> AsyncGenerator[Trial, None]:
        """Never raises what callgate raises on purpose."""
        try:
            async with aclosing(self._validation.trials()) as trials:
                async for trial in trials:
                    failed = trial.passed is False
                    self.noted = Noted(
                        trial=trial,
                        formats=dict(self._formats_now),
                        habits=dict(self._habits_now),
                        exchange=self._validation.exchange if failed else None,
                    )
                    self._formats_now, self._habits_now = Counter(), Counter()
                    self._note(self.noted)
                    yield trial
        except CallgateError as error:
            self._error = error

    def run(self) -> Run:
        return self._validation.run()

    @property
    def is_whole(self) -> bool:
        return self._error is not None or self.run().about.complete

    def survey(self) -> ModelSurvey:
        run = self.run()
        return ModelSurvey(
            about=run.about,
            declared=self._declared(),
            shown=shown_by(run.trials),
            rates=dict(rates_by_mode(run)),
            formats=dict(self._formats.most_common()),
            habits=dict(self._habits.most_common()),
            forms=self._forms,
            failures=self._failures,
            speed=_speed(run.trials),
            error=error_as_json(self._error) if self._error else None,
        )

    async def _ask_more(self, session: ModedSession, ref: ModelRef) -> None:
        self._forms = await forms_taken(session, ref)

    def _declared(self) -> Declared | None:
        finding = self._validation.finding
        if finding is None or self._validation.ref.scheme == "scripted":  # of which nothing is known
            return None
        return declared_of(finding)

    def _hear(self, sent: ChatRequest, heard: Heard) -> None:
        if not sent.tools:  # emulated, or none at all: then its format is ours
            return
        calls = heard.calls
        if calls:
            self._formats_now["native"] += len(calls)
        elif (found := recover(heard.text, sent.tools)).calls:
            calls = found.calls
            self._formats_now[found.format or "text"] += len(calls)
        tools = {tool.name: tool for tool in sent.tools}
        for call in calls:
            self._habits_now.update(repair.rule for repair in call.repairs)
            if call.name not in tools:
                self._habits_now["unknown-tool"] += 1
            elif isinstance(call.arguments, Mapping):
                self._habits_now["extra-key"] += len(_extra(call.arguments, tools[call.name]))
        self._habits_now += Counter()  # without those that are 0

    def _note(self, noted: Noted) -> None:
        self._formats.update(noted.formats)
        self._habits.update(noted.habits)
        trial = noted.trial
        if trial.passed is not False:
            return
        kind = trial.kind or "other"
        if (known := self._failures.get(kind)) is not None:
            self._failures[kind] = msgspec.structs.replace(known, count=known.count + 1)
        elif len(self._failures) < MOST_KINDS:
            self._failures[kind] = Failures(
                count=1, case=trial.case, mode=trial.mode, reason=trial.reason, exchange=noted.exchange
            )


def declared_of(finding: Finding) -> Declared:
    """What callgate would say of a model that nobody has tried or spoken of yet, and how it would send it tools."""
    unbiased = tuple(found for found in finding.evidence if found.source not in _AFTERWARDS)
    known = weigh(finding.facts, unbiased, failure=finding.failure, flaw=finding.flaw).capabilities
    by = decisive(known.evidence).get("tools")
    return Declared(
        tools=str(known.tools),
        native_route=str(known.native_route),
        mode=mode_of(known.tools, known.native_route, embedding=bool(known.is_embedding)),
        source=str(by.source) if by else None,
        why=by.detail if by else None,
        guess=known.guess,
        parallel=known.supports_parallel_tool_calls,
        system=known.supports_system_role,
        thinking=known.supports_thinking,
        vision=known.supports_vision,
        context=known.context_length,
        parameters=known.parameter_size,
        quantization=known.quantization,
    )


def shown_by(trials: Sequence[Trial]) -> Shown:
    """What the trials with tools as they are show of the model."""
    native = [trial for trial in trials if trial.mode == "native"]
    calling = [trial for trial in native if trial.check in CALLING]
    judged = [trial for trial in calling if trial.passed is not None and not _is_no_ones(trial)]
    is_refused = bool(calling) and all(trial.passed is None for trial in calling)
    text = [trial for trial in judged if trial.kind == "text-call"]
    return Shown(
        tools=False if is_refused else _share([_called(trial) for trial in judged]),
        text_calls=len(text) >= HALF * len(judged) if judged else None,
        parallel=_share(
            [_called_twice(trial) for trial in native if trial.check == "parallelCalls" and trial.passed is not None]
        ),
        system=_mostly([trial for trial in trials if trial.check == "systemPrompt"]),
    )


def _called(trial: Trial) -> bool:
    """Whether it called a tool that it was offered, with whatever arguments: those are for the rates."""
    return trial.passed is True or trial.kind in MISTAKEN_CALLS or (trial.kind == "cut-off" and bool(_calls_got(trial)))


def _called_twice(trial: Trial) -> bool:
    return trial.passed is True or (trial.kind in MISTAKEN_CALLS and len(_calls_got(trial)) > 1)


def _calls_got(trial: Trial) -> Sequence[Any]:
    calls = trial.got.get("calls") if isinstance(trial.got, Mapping) else None
    return calls if isinstance(calls, list | tuple) else ()


def _is_no_ones(trial: Trial) -> bool:
    """A server that broke or was too slow shows nothing of the model."""
    return trial.kind is not None and (trial.kind == TIMEOUT or trial.kind.startswith("error:"))


def _share(answers: Sequence[bool]) -> bool | None:
    return sum(answers) >= HALF * len(answers) if answers else None


def _mostly(trials: Sequence[Trial]) -> bool | None:
    judged = [trial for trial in trials if trial.passed is not None]
    return sum(trial.passed is True for trial in judged) >= HALF * len(judged) if judged else None


def _extra(arguments: Mapping[str, Any], tool: Tool) -> list[str]:
    properties = tool.parameters.get("properties")
    return [name for name in arguments if not isinstance(properties, Mapping) or name not in properties]


def _speed(trials: Sequence[Trial]) -> Speed | None:
    tried = [trial for trial in trials if trial.passed is not None]
    if not tried:
        return None
    first = [trial.first_token_ms for trial in tried if trial.first_token_ms is not None]
    written = [speed for trial in tried if (speed := tokens_per_second(trial)) is not None]
    return Speed(
        ms=round(median(trial.ms for trial in tried), 1),
        first_token_ms=round(median(first), 1) if first else None,
        tokens_per_second=round(median(written), 1) if written else None,
    )
