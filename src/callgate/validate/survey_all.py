"""A survey of many models: those of one backend one after the other, so that none is loaded twice; backends at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from callgate import __version__
from callgate.backends import place_of
from callgate.runtime import AsyncDetector, digest_of
from callgate.settings import Settings
from callgate.validate.records import RunAbout, Trial, label_of
from callgate.validate.running import Wanted
from callgate.validate.survey_records import SUITE
from callgate.validate.survey_state import Surveyed, SurveyState
from callgate.validate.surveying import ModelSurveying
from callgate.vocabulary import CallgateError, ModelRef

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
        for ref in dict.fromkeys(refs):
            self._places.setdefault(place_of(ref), []).append(ref)
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
        if self._state and (done := self._state.done(await self._about(ref, detector))):
            self.progress.end_model(place, 0)
            self._tell()
            return done
        surveying = ModelSurveying(ref, self._wanted, self._settings)
        began, tried = time.monotonic(), 0
        async with aclosing(surveying.trials()) as trials:
            async for trial in trials:
                now = time.monotonic()
                tried += 1
                self.progress.step(place, trial, now - began)
                began = now
                self._tell()
        surveyed = Surveyed(surveying.survey(), surveying.run())
        if self._state:
            self._state.keep(surveyed)
        self.progress.end_model(place, tried)
        self._tell()
        return surveyed

    async def _about(self, ref: ModelRef, detector: AsyncDetector) -> RunAbout:
        """Of the run that would be made now."""
        wanted = self._wanted
        try:
            digest = digest_of(ref, (await detector.find(ref)).facts) if ref.scheme != "scripted" else None
        except CallgateError:
            digest = None
        return RunAbout(
            model=label_of(ref),
            at="",
            suite=SUITE,
            trials=wanted.trials,
            seed=wanted.seed,
            callgate=__version__,
            backend=place_of(ref)[0],
            modes=wanted.modes or (),
            digest=digest,
        )

    def _tell(self) -> None:
        if self._on_step:
            self._on_step(self.progress)


def _trials_each(wanted: Wanted) -> int:
    modes = len([mode for mode in wanted.modes or () if mode != "off"])
    return wanted.trials * sum(1 if known.case.has_no_mode else modes for known in wanted.cases)
