"""Keeps engines running: one for each loaded model, as many as fit, the least recently used goes first."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec

from callgate.backends.llamacpp.process import EngineProcess
from callgate.backends.llamacpp.spec import EngineSpec
from callgate.backends.protocol import Loading
from callgate.wire import HttpClient

log = logging.getLogger(__name__)

PART_OF_FREE_MEMORY = 0.8


class Wanted(msgspec.Struct, frozen=True):
    """A model to run. Equal ones share an engine."""

    spec: EngineSpec
    version: tuple[int, int]
    """Of its file: another one is another model."""
    bytes: int


class Supervisor:
    """Belongs to one event loop."""

    def __init__(
        self,
        start: Callable[[EngineSpec], Awaitable[EngineProcess]],
        http: HttpClient,
        *,
        budget: int,
        load_seconds: float | None,
    ) -> None:
        """`budget`: bytes for all models together; 0 is most of what is free."""
        self._start = start
        self._http = http
        self._budget = budget
        self._load_seconds = load_seconds
        self.on_loading: Callable[[Loading], None] | None = None
        self._places: dict[Wanted, _Place] = {}
        """The least recently used first."""

    @asynccontextmanager
    async def running(self, wanted: Wanted) -> AsyncIterator[EngineProcess]:
        """An engine that has the model loaded, and keeps it as long as it is being used here.

        Raises: EngineFailed, if the model can't be loaded.
        """
        place = self._places.pop(wanted, None) or _Place()
        self._places[wanted] = place  # as the latest
        place.users += 1
        place.is_to_go = False
        try:
            async with place.lock:
                if place.engine is not None and not place.engine.is_alive:
                    log.warning("%s; starting it anew", (await place.engine.failure()).message)
                    place.engine = None
                if place.engine is None:
                    await self._make_room(wanted)
                    place.engine = await self._loaded(wanted)
            yield place.engine
        finally:
            place.users -= 1
            if place.engine is None and not place.users and self._places.get(wanted) is place:
                del self._places[wanted]
            await self._let_go(wanted, place)

    async def unload(self, name: str, path: str) -> None:
        """Ends the engines of a model. One that is being used ends as soon as it isn't, unless somebody asks for the
        model meanwhile.
        """
        for wanted, place in list(self._places.items()):
            if (wanted.spec.name, wanted.spec.path) == (name, path):
                place.is_to_go = True
                await self._let_go(wanted, place)

    async def _let_go(self, wanted: Wanted, place: _Place) -> None:
        if place.is_to_go and not place.users and place.engine and self._places.get(wanted) is place:
            del self._places[wanted]
            # Whoever was told to stop in the middle must not leave it half done.
            await asyncio.shield(place.engine.stop())

    def loaded(self) -> dict[str, int]:
        """The names of the models that are loaded, the least recently used first, each with its context in tokens."""
        places = self._places.items()
        running = [(place.engine, wanted.spec) for wanted, place in places if place.engine is not None]
        return {engine.name: spec.context for engine, spec in running if engine.is_alive}

    async def close(self) -> None:
        places = list(self._places.values())
        self._places.clear()
        await asyncio.gather(*(place.engine.stop() for place in places if place.engine is not None))

    async def _loaded(self, wanted: Wanted) -> EngineProcess:
        def told(seconds: float) -> None:
            if self.on_loading is not None:
                self.on_loading(Loading(wanted.spec.name, seconds, wanted.bytes))

        engine = await self._start(wanted.spec)
        await engine.ready(self._http, told, self._load_seconds)
        return engine

    async def _make_room(self, wanted: Wanted) -> None:
        """What is being used stays, even if that is more than there should be."""
        taken = {other: other.bytes for other, place in self._places.items() if place.engine is not None}
        budget = self._budget or int((free_memory() + sum(taken.values())) * PART_OF_FREE_MEMORY)
        for other in list(taken):
            if sum(taken.values()) + wanted.bytes <= budget:
                return
            place = self._places[other]
            if place.users or place.lock.locked() or place.engine is None:
                continue
            del self._places[other], taken[other]
            await place.engine.stop()
        if sum(taken.values()) + wanted.bytes > budget:
            log.warning("%r may take more memory than there is for it", wanted.spec.name)


class _Place:
    """Where a model's engine is, or will be."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.engine: EngineProcess | None = None
        self.users = 0
        self.is_to_go = False


def free_memory() -> int:
    """Bytes that new processes could have, as far as can be told."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 8 << 30
