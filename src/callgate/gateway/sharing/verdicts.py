"""What validations came to: a model that was validated beside one server counts as validated at the others.

Each server keeps the registry of its own machine up to date: what it reads there goes to Redis, what others know and is
newer comes from there. The user's own word is nobody else's, and stays.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import Annotated

import msgspec

from callgate.gateway.sharing.identity import key_in, name_of_model
from callgate.gateway.sharing.link import RedisLink
from callgate.gateway.sharing.tables import Table
from callgate.registry import Fields, ModelRecord, Registry, as_moment, moment_of
from callgate.runtime import is_users_word
from callgate.vocabulary import CallgateError, ModelRef

log = logging.getLogger(__name__)

MOST_VERDICTS = 1_000
LONGEST_TABLE = 1 << 20
AHEAD_SECONDS = 3_600.0
"""What is from a later time than that isn't believed: clocks differ, but not so much."""
_PROFILE = "profile"
_Word = Annotated[str, msgspec.Meta(max_length=200)]
_Rate = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    at: Annotated[float, msgspec.Meta(ge=0, le=1e11)]
    rates: Annotated[dict[_Word, _Rate], msgspec.Meta(min_length=1, max_length=16)]
    """What part of the trials passed, by mode."""
    suite: _Word | None = None
    digest: _Word | None = None
    tools: bool | None = None


class Verdicts:
    def __init__(self, link: RedisLink, registry: Registry) -> None:
        self._registry = registry
        self.table = Table(link, "verdicts", Verdict, rows=MOST_VERDICTS, bytes_=LONGEST_TABLE)
        self._own: dict[str, Verdict] | None = None

    async def tell(self) -> None:
        """What is new in the registry. Raises: Away."""
        own = await asyncio.to_thread(self._kept)
        if own == self._own:
            return
        await self.table.change(partial(_with_newer, own))
        self._own = own

    async def hear(self) -> None:
        """Raises: Away."""
        shared = await self.table.read()
        try:
            await asyncio.to_thread(self._learn, shared)
        except CallgateError as error:
            log.warning("what others found out of models can't be kept: %s", error.message)

    def _kept(self) -> dict[str, Verdict]:
        found = (_verdict(record) for record in self._registry.records())
        return dict(each for each in found if each)

    def _learn(self, shared: dict[str, Verdict]) -> None:
        """Raises: StorageError, UsageError."""
        own = {key_in(name): verdict.at for name, verdict in self._kept().items()}
        latest = time.time() + AHEAD_SECONDS
        changes = {}
        for name, verdict in shared.items():
            ref = _ref(name)
            if ref is not None and own.get(key_in(name), -1.0) < verdict.at <= latest:
                changes[ref] = partial(_learned, ref.name, verdict)
        if changes:
            self._registry.update_each(changes)


def _verdict(record: ModelRecord) -> tuple[str, Verdict] | None:
    at = as_moment(record.validated_at)
    ref = _ref(record.key or "")
    if at is None or ref is None or not record.validated_rates:
        return None
    digest = record.validated_digest
    is_profile = record.tool_support_source == _PROFILE and record.digest == digest
    made = {
        "at": at,
        "rates": dict(record.validated_rates),
        "suite": record.validated_suite,
        "digest": digest,
        "tools": record.tool_support if is_profile else None,
    }
    try:
        return name_of_model(ref, digest), msgspec.convert(made, Verdict)
    except msgspec.ValidationError:
        return None


def _with_newer(own: dict[str, Verdict], shared: dict[str, Verdict]) -> dict[str, Verdict] | None:
    newer = {name: each for name, each in own.items() if name not in shared or shared[name].at < each.at}
    if not newer:
        return None
    every = sorted({**shared, **newer}.items(), key=lambda item: item[1].at)
    return dict(every[-MOST_VERDICTS:])


def _learned(name: str, verdict: Verdict, record: ModelRecord | None) -> Fields:
    fields = Fields(
        validated_at=moment_of(verdict.at),
        validated_digest=verdict.digest,
        validated_suite=verdict.suite,
        validated_rates=verdict.rates,
    )
    if record is None or not record.name:
        fields["name"] = name
    if verdict.tools is not None and not is_users_word(record):
        fields |= Fields(
            tool_support=verdict.tools,
            tool_support_source=_PROFILE,
            tool_support_confirmed_at=moment_of(verdict.at),
            digest=verdict.digest,
        )
    return fields


def _ref(name: str) -> ModelRef | None:
    if not (key := key_in(name)):
        return None
    try:
        ref = ModelRef.parse(key)
    except CallgateError:
        return None
    return ref if ref.scheme in ("ollama", "openai", "file", "hf") else None
