"""One server among those that share: it looks twice a second whether the others have news, and tells its own."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from secrets import token_hex

from callgate.gateway.endpoints import Endpoint, Endpoints
from callgate.gateway.metrics import Metrics
from callgate.gateway.sharing.answers import SharedAnswers
from callgate.gateway.sharing.key_ring import KeyRing
from callgate.gateway.sharing.known_keys import KnownKeys, OnKeys
from callgate.gateway.sharing.link import LONGEST_MARK, Away, RedisLink
from callgate.gateway.sharing.outages import CHANGES_KEY, Outages
from callgate.gateway.sharing.verdicts import Verdicts
from callgate.registry import Registry
from callgate.settings import Secret, Settings

log = logging.getLogger(__name__)

ROUND_SECONDS = 0.5
LOOK_ANYWAY_SECONDS = 30.0
"""How long a change may go unnoticed that somebody made by hand."""
TELL_SECONDS = 5.0
"""Between looks at what this machine's registry has new."""
MOST_UNTOLD = 1_000


class Shared:
    """Belongs to one event loop. `on_keys` hears which keys there are, each time that they change."""

    def __init__(self, url: Secret, settings: Settings, metrics: Metrics, on_keys: OnKeys) -> None:
        """Raises: UsageError."""
        self._link = RedisLink(url)
        self._link.on_failure = self._count
        self._settings = settings
        self._metrics = metrics
        self.answers = SharedAnswers(self._link)
        ring = KeyRing(self._link)
        self._keys_table = ring.table
        self._keys = KnownKeys(ring, self._link.place, on_keys)
        self._verdicts = Verdicts(self._link, Registry.in_folder(settings.data_folder))
        self._outages: Outages | None = None
        self._untold: dict[Endpoint, None] = {}
        self._news = asyncio.Event()
        self._seen: dict[str, object] = {}
        self._looked_at = self._told_at = -1e9
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_up(self) -> bool:
        return self._link.is_up

    @property
    def place(self) -> str:
        """As it may be shown."""
        return self._link.place

    async def join(self) -> None:
        """When it returns, the keys are known. Raises: UsageError, Unreachable, BadAnswer."""
        await self._link.open()
        await self._keys.join()
        self._metrics.redis_up.set(to=1)

    def look_after(self, endpoints: Endpoints) -> None:
        """From now on, in the background."""
        self._outages = Outages(self._link, self._settings, endpoints, instance=token_hex(8))
        endpoints.on_change = self._tell_soon
        self._tasks = [asyncio.create_task(self._hear_always()), asyncio.create_task(self._tell_always())]

    async def close(self) -> None:
        while self._tasks:  # Python 3.11 may lose a cancellation, in the `wait_for` that Redis' package waits with
            for task in self._tasks:
                task.cancel()
            _, left = await asyncio.wait(self._tasks, timeout=ROUND_SECONDS)
            self._tasks = list(left)
        await self._link.close()

    def _tell_soon(self, endpoint: Endpoint) -> None:
        if len(self._untold) < MOST_UNTOLD:
            self._untold[endpoint] = None
            self._news.set()

    async def _tell_always(self) -> None:
        assert self._outages
        while True:
            await self._news.wait()
            self._news.clear()
            while self._untold:
                endpoint = next(iter(self._untold))
                del self._untold[endpoint]
                await self._tried(self._outages.tell(endpoint))  # news that can't be told is soon none

    async def _hear_always(self) -> None:
        while True:
            if await self._tried(self._round()):
                await asyncio.sleep(ROUND_SECONDS)
            else:
                self._seen.clear()
                await asyncio.sleep(max(self._link.pause, ROUND_SECONDS))
            self._metrics.redis_up.set(to=self._link.is_up)

    async def _round(self) -> None:
        """Raises: Away."""
        assert self._outages
        names: dict[str, Callable[[], Awaitable[None]]] = {
            CHANGES_KEY: self._outages.hear,
            self._keys_table.changes_key: self._keys.hear,
            self._verdicts.table.changes_key: self._verdicts.hear,
        }
        marks = await self._link.together(*(("GETRANGE", name, 0, LONGEST_MARK) for name in names), is_trial=True)
        is_due = time.monotonic() - self._looked_at > LOOK_ANYWAY_SECONDS
        for (name, hear), mark in zip(names.items(), marks, strict=True):
            if (is_due or self._seen.get(name) != mark) and await self._tried(hear()):
                self._seen[name] = mark
        if is_due:
            self._looked_at = time.monotonic()
        await self.answers.catch_up()
        if time.monotonic() - self._told_at > TELL_SECONDS:
            await self._verdicts.tell()
            self._told_at = time.monotonic()

    async def _tried(self, work: Awaitable[None]) -> bool:
        try:
            await work
        except Away:
            return False
        except Exception as error:
            log.exception("a mistake of ours in sharing (%s)", type(error).__name__)
            return False
        return True

    def _count(self, kind: str) -> None:
        self._metrics.redis_failures.add(kind)
