"""Looks after endpoints in the background: whether one that is out is back, and whether one that is silent still lives.

Only where a model has several endpoints, and only for as long as somebody asks for it; a lone server hears nothing from
here but what clients want of it. With `every`, all that are known are looked at, whether anybody asks or not.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from callgate.backends import backend_for
from callgate.gateway.endpoints import Endpoint, Endpoints
from callgate.settings import Settings
from callgate.vocabulary import BadStatus, CallgateError, ModelRef, Unreachable
from callgate.wire import HttpClient, hops

log = logging.getLogger(__name__)

CHECK_SECONDS = 3.0
"""For a server to say which models it has."""
CHECKS_AT_ONCE = 8
SUSPICION_SECONDS = 10.0
"""After which a server that has said nothing is asked whether it lives."""
DEAD_AFTER = 2
"""Such questions in a row without an answer."""
IDLE_SECONDS = 600.0
"""An endpoint of a model that nobody has asked for this long is left alone."""
_SERVERS = ("ollama", "openai")


class HealthChecks:
    """Belongs to one event loop. Its connections are its own: they must not wait for those that are busy."""

    def __init__(self, settings: Settings, endpoints: Endpoints, *, every: float = 0.0, instance: str = "") -> None:
        self._settings = settings
        self._endpoints = endpoints
        self._instance = instance
        self._http = HttpClient()
        self._slots = asyncio.Semaphore(CHECKS_AT_ONCE)
        self._asking: dict[tuple[str, str], asyncio.Task[bool]] = {}
        self._watching: dict[Endpoint, asyncio.Task[None]] = {}
        self._rounds = asyncio.create_task(self._look_at_all(every)) if every else None

    async def close(self) -> None:
        tasks = [*self._watching.values(), *self._asking.values(), *filter(None, (self._rounds,))]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._http.close()

    def look_after(self, endpoint: Endpoint) -> None:
        """Until it is back, or nobody wants it any more. One without siblings is looked at by those who want it."""
        if endpoint.has_siblings:
            self._watch(endpoint)

    def _watch(self, endpoint: Endpoint) -> None:
        if endpoint.state == "out" and endpoint not in self._watching:
            task = self._watching[endpoint] = asyncio.create_task(self._until_back(endpoint))
            task.add_done_callback(lambda _: self._watching.pop(endpoint, None))

    async def answers(self, ref: ModelRef) -> bool:
        """Whether its server answers anything at all that is no failure. Many who ask at once share one question."""
        if ref.scheme not in _SERVERS:
            return True
        endpoint = self._endpoints.of(ref)
        if (asking := self._asking.get(endpoint.place)) is None:
            asking = self._asking[endpoint.place] = asyncio.create_task(self._ask(ref))
            asking.add_done_callback(lambda _: self._asking.pop(endpoint.place, None))
        return await asyncio.shield(asking)

    @asynccontextmanager
    async def while_it_lives(self, ref: ModelRef) -> AsyncIterator[None]:
        """Ends what is done in it when the server doesn't even say which models it has.

        Raises: Unreachable.
        """
        task = asyncio.current_task()
        assert task is not None
        is_dead = False

        async def suspect() -> None:
            nonlocal is_dead
            silences = 0
            while silences < DEAD_AFTER:
                await asyncio.sleep(SUSPICION_SECONDS)
                silences = 0 if await self.answers(ref) else silences + 1
            is_dead = True
            task.cancel()

        suspecting = asyncio.create_task(suspect())
        try:
            yield
        except asyncio.CancelledError:
            if not is_dead or task.uncancel() > 0:  # somebody else wants it to end, too
                raise
            where = self._endpoints.of(ref).label
            raise Unreachable(f"{where} hangs: it says neither a word nor which models it has") from None
        finally:
            suspecting.cancel()

    async def _until_back(self, endpoint: Endpoint) -> None:
        while endpoint.state == "out":
            await asyncio.sleep(max(0.0, endpoint.out_until - time.monotonic()))
            began = time.monotonic()
            if endpoint.state != "out":
                return
            if began - endpoint.wanted_at > IDLE_SECONDS and self._rounds is None:
                return
            if await self.answers(endpoint.ref):
                endpoint.let_in()
                log.info("%r at %s is tried again", endpoint.ref.name, endpoint.label)
            else:
                endpoint.fail(began=began)
            if not endpoint.is_hearsay:
                self._endpoints.on_change(endpoint)

    async def _look_at_all(self, every: float) -> None:
        while True:
            await asyncio.sleep(every * random.uniform(0.8, 1.2))  # noqa: S311
            up = [each for each in self._endpoints if each.state != "out"]
            began = time.monotonic()
            for each, lives in zip(up, await asyncio.gather(*(self.answers(each.ref) for each in up)), strict=True):
                if not lives and each.fail(began=began):
                    self._endpoints.on_fail(each)
                    self._endpoints.on_change(each)
            for each in self._endpoints:
                self._watch(each)

    async def _ask(self, ref: ModelRef) -> bool:
        hops.set((self._instance,))  # in this task alone: if it leads back to us, that is a loop
        async with self._slots:
            try:
                backend = backend_for(ref, self._settings, self._http)
                async with asyncio.timeout(CHECK_SECONDS):
                    await backend.models()
            except BadStatus as error:
                return error.status < 500  # somebody is there, who knows another protocol or wants a key
            except (CallgateError, TimeoutError):
                return False
        return True
