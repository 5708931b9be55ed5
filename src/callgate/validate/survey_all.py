"""A survey of many models: those of one backend one after the other, so that none is loaded twice; backends at once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress

from callgate import __version__
from callgate.backends import place_of
from callgate.runtime import AsyncDetector
from callgate.settings import Settings
from callgate.validate.records import RunAbout, Trial, label_of
from callgate.validate.running import Wanted, server_of, version_of
from callgate.validate.survey_records import SUITE
from callgate.validate.survey_state import Surveyed, SurveyState
from callgate.validate.surveying import ModelSurveying
from callgate.vocabulary import CallgateError, Facts, ModelRef, UsageError
from callgate.wire import ollama_base_url

Place = tuple[str, str]


class SurveyProgress:
    """How far it is: trials that were made and are left, by backend."""

    def __init__(self, places: dict[Place, list[ModelRef]], trials: int) -> None:
        self._left = {place: len(refs) * trials for place, refs in places.items()}
        self._made = dict.fromkeys(places, 0)
        self._spent = dict.fromkeys(places, 0.0)
        self._each = trials
        self.models = sum(len(refs) for refs in places.values())
        self.models_done = 0
        self.now: dict[Place, str] = {}
        """What is just being tried, in words."""

    @property
    def made(self) -> int:
        return sum(self._made.values())

    @property
    def total(self) -> int:
        return self.made + sum(self._left.values())

    @property
    def seconds_left(self) -> float | None:
        """`None` until there is something to go by."""
        if not self.made:
            return None
        usual = sum(self._spent.values()) / self.made
        paces = {place: self._spent[place] / made if (made := self._made[place]) else usual for place in self._left}
        return max(self._left[place] * paces[place] for place in self._left)

    def step(self, place: Place, trial: Trial, seconds: float) -> None:
        self._made[place] += 1
        self._left[place] = max(0, self._left[place] - 1)
        self._spent[place] += seconds
        self.now[place] = f"{trial.model} {trial.mode} {trial.case}"

    def skip(self, place: Place, trials: int) -> None:
        """An earlier survey has made them."""
        self._left[place] = max(0, self._left[place] - trials)

    def end_model(self, place: Place, tried: int) -> None:
        """Also one that was found in the last survey, or broke off: its trials needn't be waited for."""
        self._left[place] = max(0, self._left[place] - max(0, self._each - tried))
        self.models_done += 1
        self.now.pop(place, None)


class SurveyOfAll:
    """Ask for `results`: each as it is ready. What was done is kept in `state`, whatever ends it."""

    def __init__(
        self,
        refs: Sequence[ModelRef],
        wanted: Wanted,
        settings: Settings,
        *,
        state: SurveyState | None = None,
        jobs: int | None = None,
        on_step: Callable[[SurveyProgress], None] | None = None,
    ) -> None:
        """`jobs`: so many backends at once; all of them, if nobody says otherwise."""
        self._wanted = wanted
        self._settings = settings
        self._state = state
        self._on_step = on_step
        self._places: dict[Place, list[ModelRef]] = {}
        self._under_way: dict[ModelRef, ModelSurveying] = {}
        for ref in {identity_of(ref, settings): ref for ref in reversed(refs)}.values():
            self._places.setdefault(identity_of(ref, settings)[0], []).insert(0, ref)
        self._slots = asyncio.Semaphore(jobs or len(self._places) or 1)
        self.progress = SurveyProgress(self._places, _trials_each(wanted))

    async def results(self) -> AsyncGenerator[Surveyed, None]:
        ready: asyncio.Queue[Surveyed | None] = asyncio.Queue()
        async with AsyncDetector(self._settings) as detector:
            tasks = [asyncio.create_task(self._place(place, detector, ready)) for place in self._places]
            try:
                for _ in tasks:
                    while (surveyed := await ready.get()) is not None:
                        yield surveyed
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _place(self, place: Place, detector: AsyncDetector, ready: asyncio.Queue[Surveyed | None]) -> None:
        try:
            async with self._slots:
                for ref in self._places[place]:
                    ready.put_nowait(await self._model(place, ref, detector))
        finally:
            ready.put_nowait(None)

    async def _model(self, place: Place, ref: ModelRef, detector: AsyncDetector) -> Surveyed:
        about = await self._about(ref, detector)
        if self._state and (done := self._state.done(about)):
            self.progress.end_model(place, 0)
            self._tell()
            return done
        begun = self._state.begun(about) if self._state else []
        self.progress.skip(place, len(begun))
        self._under_way[ref] = surveying = ModelSurveying(ref, self._wanted, self._settings, begun)
        began, tried = time.monotonic(), len(begun)
        async with aclosing(surveying.trials()) as trials:
            async for trial in trials:
                now = time.monotonic()
                tried += 1
                self.progress.step(place, trial, now - began)
                began = now
                if self._state and surveying.noted:
                    self._state.note(about, surveying.noted)
                self._tell()
        surveyed = Surveyed(surveying.survey(), surveying.run())
        del self._under_way[ref]
        if self._state and surveyed.run.about.complete and not surveyed.survey.error:
            self._state.keep(about, surveyed)
        self.progress.end_model(place, tried)
        self._tell()
        return surveyed

    def broken_off(self) -> list[Surveyed]:
        """What was found so far of models that were just being surveyed when somebody had enough."""
        found = [Surveyed(surveying.survey(), surveying.run()) for surveying in self._under_way.values()]
        return [each for each in found if each.run.trials]

    async def _about(self, ref: ModelRef, detector: AsyncDetector) -> RunAbout:
        """Of the run that would be made now."""
        wanted = self._wanted
        try:
            facts = Facts(name=ref.name) if ref.scheme == "scripted" else (await detector.find(ref)).facts
        except CallgateError:
            facts = Facts(name=ref.name)
        return RunAbout(
            model=label_of(ref),
            at="",
            suite=SUITE,
            trials=wanted.trials,
            seed=wanted.seed,
            callgate=__version__,
            backend=place_of(ref)[0],
            modes=wanted.modes or (),
            digest=version_of(ref, facts),
            server=server_of(facts),
        )

    def _tell(self) -> None:
        if self._on_step:
            self._on_step(self.progress)


def identity_of(ref: ModelRef, settings: Settings) -> tuple[Place, str]:
    """Where a model runs, and which one it is there, however it was spelled."""
    place, name = place_of(ref), ref.name
    if ref.scheme == "file":
        name = os.path.realpath(name)
    elif ref.scheme == "ollama":
        with suppress(UsageError):
            place = (place[0], ollama_base_url(ref.endpoint or settings.ollama.host))
        name = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    elif ref.endpoint:
        place = (place[0], ref.endpoint.rstrip("/"))
    return place, f"{ref.scheme} {name}"


def _trials_each(wanted: Wanted) -> int:
    modes = len([mode for mode in wanted.modes or () if mode != "off"])
    return wanted.trials * sum(1 if known.case.has_no_mode else modes for known in wanted.cases)
