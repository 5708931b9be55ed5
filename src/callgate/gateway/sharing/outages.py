"""Servers that are out: who finds one dead says so, and the others needn't find out by their own requests."""

from __future__ import annotations

import hashlib
import time
from typing import Annotated

import msgspec

from callgate.gateway.endpoints import Endpoint, Endpoints
from callgate.gateway.sharing.identity import name_of_endpoint
from callgate.gateway.sharing.link import PREFIX, RedisLink, changed
from callgate.settings import Settings

CHANGES_KEY = f"{PREFIX}changes:outages"
MOST_ENDPOINTS = 1_000
LONGEST_NOTE = 256


class Outage(msgspec.Struct, frozen=True, kw_only=True):
    """How long it lasts is known to Redis, which forgets it then."""

    failures: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 0
    by: Annotated[str, msgspec.Meta(max_length=64)] = ""


class Outages:
    def __init__(self, link: RedisLink, settings: Settings, endpoints: Endpoints, *, instance: str) -> None:
        self._link = link
        self._settings = settings
        self._endpoints = endpoints
        self._instance = instance
        self._keys: dict[Endpoint, str | None] = {}
        self._heard: set[Endpoint] = set()
        """Those that others said are out."""

    async def tell(self, endpoint: Endpoint) -> None:
        """How it is now. Raises: Away."""
        if (key := self._key(endpoint)) is None:
            return
        self._heard.discard(endpoint)
        seconds = endpoint.out_until - time.monotonic()
        note = msgspec.json.encode(Outage(failures=endpoint.failures, by=self._instance))
        is_out = endpoint.state == "out" and seconds > 0
        change = ("SET", key, note, "PX", max(1, int(seconds * 1000))) if is_out else ("DEL", key)
        await self._link.together(change, changed(CHANGES_KEY))

    async def hear(self) -> None:
        """Of all that we know ourselves. Raises: Away."""
        known = [(each, key) for each in self._endpoints if (key := self._key(each))][:MOST_ENDPOINTS]
        if not known:
            return
        questions = [(("GETRANGE", key, 0, LONGEST_NOTE), ("PTTL", key)) for _, key in known]
        said = await self._link.together(*(each for pair in questions for each in pair))
        for (endpoint, _), note, milliseconds in zip(known, said[::2], said[1::2], strict=True):
            outage = _outage(note)
            if outage is None:
                if endpoint in self._heard:
                    self._heard.discard(endpoint)
                    endpoint.let_in()
            elif outage.by != self._instance and isinstance(milliseconds, int) and milliseconds > 0:
                self._take_out(endpoint, outage, milliseconds / 1000)

    def _take_out(self, endpoint: Endpoint, outage: Outage, seconds: float) -> None:
        if endpoint.hear_out(seconds, failures=outage.failures):
            self._heard.add(endpoint)
            self._endpoints.look_after(endpoint)

    def _key(self, endpoint: Endpoint) -> str | None:
        if endpoint not in self._keys:
            name = name_of_endpoint(endpoint.ref, self._settings)
            digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32] if name else ""
            self._keys[endpoint] = f"{PREFIX}out:{digest}" if name else None
        return self._keys[endpoint]


def _outage(note: object) -> Outage | None:
    if not isinstance(note, bytes) or not note:
        return None
    try:
        return msgspec.json.decode(note, type=Outage)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
