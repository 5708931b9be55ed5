"""All trials of one model, one after the other: as they come in, and as a run."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

import msgspec

from callgate import __version__
from callgate.backends import place_of
from callgate.detect import Finding
from callgate.runtime import digest_of, timestamp
from callgate.settings import Settings
from callgate.validate.case_files import Suite
from callgate.validate.case_records import KnownCase
from callgate.validate.heard import Heard
from callgate.validate.moded_session import ModedSession
from callgate.validate.records import MODES, Mode, Run, RunAbout, Trial, label_of
from callgate.validate.trying import TIMEOUT, Trying
from callgate.vocabulary import ChatRequest, Facts, Message, ModelRef, Unreachable, UsageError

TRIALS: Mapping[str, int] = {"quick": 3, "full": 5}
THINKING = 16
"""Times the tokens, for a model that thinks before it answers."""
MOST_IN_VAIN = 3
"""Trials in a row that nobody answered in time: then nobody will."""
TOOL_MODES: tuple[Mode, ...] = ("native", "recovered", "emulated")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be tried."""

    cases: tuple[KnownCase, ...]
    suite: str = "quick"
    """Or, of a foreign suite, its name."""
    trials: int = TRIALS["quick"]
    modes: tuple[Mode, ...] | None = None
    """How tools are to reach the model; `None`: in the way that callgate itself would go."""
    seed: int = 0
    options: Mapping[str, Any] = {}
    """For sampling; the temperature is 0 otherwise."""


class ToDo(NamedTuple):
    mode: Mode
    known: KnownCase
    trial: int


class Validation:
    """Of one model. Ask for `trials`, then for the `run` that they make: also if they broke off on the way."""

    def __init__(
        self,
        ref: ModelRef,
        wanted: Wanted,
        settings: Settings | None = None,
        *,
        on_exchange: Callable[[ChatRequest, Heard], None] | None = None,
        at_end: Callable[[ModedSession, ModelRef], Awaitable[None]] | None = None,
        done: Iterable[Trial] = (),
    ) -> None:
        """`on_exchange` hears every turn; `at_end` may ask more of the model while it is loaded; what is `done` isn't
        tried again.
        """
        self._done = {(trial.mode, trial.case, trial.trial): trial for trial in done}
        self._on_exchange = on_exchange
        self._at_end = at_end
        self._asked = ref
        self._wanted = wanted
        self._settings = settings
        self._began = time.time()
        self._ref = ref
        self._finding: Finding | None = None
        self._modes: tuple[Mode, ...] = wanted.modes or ()
        self._trials: list[Trial] = []
        self.total: int | None = None
        """How many trials there are; known when the model was found."""
        self.why_these_modes: str | None = None
        """Where nobody named any, and callgate's own way isn't the model's: the reason."""
        self.exchange: Any = None
        """The last turn of the last trial, as it went over the wire."""

    async def trials(self) -> AsyncGenerator[Trial, None]:
        """Raises: as `Session.turn` does for what isn't the model's fault: nobody answers, there is no such model."""
        async with ModedSession(self._settings) as session:
            self._ref = ref = await session.resolve(self._asked)
            self._finding = await session.find(ref)
            session.on_exchange = self._on_exchange
            session.knows_server = self._finding.facts.server is not None
            self._modes = self._wanted.modes or await self._usual_modes(session, ref)
            to_do = self._to_do()
            self.total = len(to_do)
            await _load(session, ref)
            thinks = self._finding.capabilities.supports_thinking is True
            trying = Trying(
                session,
                ref,
                seed=self._wanted.seed,
                options=self._wanted.options,
                more_tokens=THINKING if thinks else 1,
            )
            in_vain = 0
            for mode, known, number in to_do:
                if (before := self._done.get((mode, known.case.name, number))) is not None:
                    self._trials.append(before)
                    continue
                session.mode = mode
                done = await trying.trial(known, number)
                self.exchange = session.exchange
                self._trials.append(msgspec.structs.replace(done, model=label_of(self._asked)))
                yield self._trials[-1]
                in_vain = in_vain + 1 if done.kind == TIMEOUT else 0
                if in_vain == MOST_IN_VAIN:
                    raise Unreachable(
                        f"{label_of(self._asked)!r} gave no answer in time, {in_vain} times in a row",
                        hint="is its server busy? the setting `timeouts.first_byte` says how long it may take",
                    )
            if self._at_end:
                session.mode = None
                await self._at_end(session, ref)

    def run(self) -> Run:
        """What was tried so far."""
        wanted = self._wanted
        digest = version_of(self._ref, self._finding.facts) if self._finding else None
        about = RunAbout(
            model=label_of(self._asked),
            at=timestamp(self._began),
            suite=wanted.suite,
            trials=wanted.trials,
            seed=wanted.seed,
            callgate=__version__,
            backend=place_of(self._ref)[0],
            modes=self._modes,
            digest=digest,
            server=server_of(self._finding.facts) if self._finding else None,
            complete=len(self._trials) == self.total,
        )
        return Run(about=about, trials=tuple(self._trials))

    @property
    def ref(self) -> ModelRef:
        """The model itself, where `auto` was asked for."""
        return self._ref

    @property
    def finding(self) -> Finding | None:
        return self._finding

    async def _usual_modes(self, session: ModedSession, ref: ModelRef) -> tuple[Mode, ...]:
        decision = await session.decision(ref)
        mode = decision.mode
        if mode != "native":
            self.why_these_modes = decision.reason
        return ("recovered" if session.policy(ref).recover else "native",) if mode == "native" else (mode,)

    def _to_do(self) -> list[ToDo]:
        """Mode by mode, so that an engine is asked like things in a row; what has no mode comes last."""
        modes = [mode for mode in self._modes if mode != "off"]
        with_tools = [known for known in self._wanted.cases if not known.case.has_no_mode]
        without = [known for known in self._wanted.cases if known.case.has_no_mode]
        return [
            *(ToDo(mode, known, number) for mode in modes for known in with_tools for number in self._numbers(known)),
            *(ToDo("off", known, number) for known in without for number in self._numbers(known)),
        ]

    def _numbers(self, known: KnownCase) -> range:
        return range(1 if known.own_judge else self._wanted.trials)


def version_of(ref: ModelRef, facts: Facts) -> str | None:
    """What tells this version of the model from the next; of a recording, what is in its file."""
    if ref.scheme != "scripted":
        return digest_of(ref, facts)
    return digest_of(ModelRef("file", ref.name.partition("?")[0]), facts)


def server_of(facts: Facts) -> str | None:
    """What runs a model, with its version, as far as it tells."""
    return " ".join(filter(None, (facts.server and str(facts.server), facts.server_version))) or None


async def _load(session: ModedSession, ref: ModelRef) -> None:
    """So that no trial pays for it, and that what is wrong with a server shows before the first."""
    if ref.scheme == "scripted":  # it would play its first answer
        return
    request = ChatRequest(model=ref.name, messages=(Message(role="user", content="Hello!"),), max_tokens=1)
    async with aclosing(session.backend(ref).stream(request)) as events:
        async for _ in events:
            pass


def usual_modes(suite: Suite) -> tuple[Mode, ...] | None:
    """What `Wanted.modes` is if nobody says otherwise: the full suite takes every way."""
    return TOOL_MODES if suite == "full" else None


def modes_of(names: Sequence[str]) -> tuple[Mode, ...]:
    """Raises: UsageError, if one of them is none."""
    for name in names:
        if name not in MODES:
            raise UsageError(f"there is no mode {name!r}", hint=f"there are: {', '.join(MODES)}")
    return tuple(mode for mode in MODES if mode in names)
