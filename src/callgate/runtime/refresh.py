"""A look at what is new: for the start of a program, in the background, and for `callgate models --refresh`, aloud.

Models that are new or have changed are looked at again, all at once; those that haven't cost nothing but a line in
their server's list. What the user said stays, and entries of models that are absent today stay too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from callgate.detect import Finding
from callgate.registry import Fields, ModelRecord, Registry, key_of, moment_of
from callgate.runtime.detector import AsyncDetector
from callgate.runtime.discovery import discover_async
from callgate.runtime.found import FoundModel
from callgate.runtime.knowledge import ModelKnowledge, digest_of, is_users_word
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, ModelRef
from callgate.wire import shown

log = logging.getLogger(__name__)

AT_ONCE = 64
"""Looks under way. A server's own queue lets fewer through."""


class Refreshed(msgspec.Struct, frozen=True, kw_only=True):
    """What a refresh came to."""

    models: tuple[FoundModel, ...] = ()
    """All that were found."""
    looked_at: tuple[ModelRef, ...] = ()
    """Those that were new or had changed, and were looked at again."""
    failed: tuple[ModelRef, ...] = ()
    """Those that couldn't be looked at."""
    absent: tuple[str, ...] = ()
    """The ids of those that are kept in the registry and weren't found; they stay there."""
    problems: tuple[CallgateError, ...] = ()
    seconds: float = 0.0

    @property
    def unchanged(self) -> int:
        return len(self.models) - len(self.looked_at) - len(self.failed)


class Step(msgspec.Struct, frozen=True):
    """One model more is done."""

    done: int
    of: int
    ref: ModelRef


async def refresh_models(
    settings: Settings,
    *,
    detector: AsyncDetector | None = None,
    knowledge: ModelKnowledge | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Refreshed:
    """Looks at the models in reach that are new or have changed, and notes which of those in the registry are there.

    With a `detector`, that one knows all of it afterwards. What goes wrong is in the answer: it never raises a
    CallgateError, for nobody waits for it.
    """
    started = time.monotonic()
    if detector is None:
        async with AsyncDetector(settings) as own:
            return await refresh_models(settings, detector=own, knowledge=knowledge, on_step=on_step)
    try:
        found = await discover_async(settings)
    except CallgateError as error:
        return Refreshed(problems=(error,), seconds=time.monotonic() - started)
    began = time.time()
    findings = await _look_at_each(found.models, detector, on_step)
    problems = list(found.problems)
    registry = (knowledge or ModelKnowledge(settings)).registry
    try:
        absent = await asyncio.to_thread(_note_who_is_there, registry, findings)
    except CallgateError as error:
        problems.append(error)
        absent = ()
    await detector.flush()
    refreshed = Refreshed(
        models=found.models,
        looked_at=tuple(ref for ref, finding in findings.items() if finding and _is_new(finding, began)),
        failed=tuple(ref for ref, finding in findings.items() if finding is None or finding.failure),
        absent=absent,
        problems=tuple(problems),
        seconds=time.monotonic() - started,
    )
    log.info(
        "%d models in reach, %d looked at, %d as they were, in %.2f s",
        len(refreshed.models),
        len(refreshed.looked_at),
        refreshed.unchanged,
        refreshed.seconds,
    )
    return refreshed


async def _look_at_each(
    models: Sequence[FoundModel], detector: AsyncDetector, on_step: Callable[[Step], None] | None
) -> dict[ModelRef, Finding | None]:
    free = asyncio.Semaphore(AT_ONCE)
    findings: dict[ModelRef, Finding | None] = dict.fromkeys(model.ref for model in models)
    done = 0

    async def look(ref: ModelRef) -> None:
        nonlocal done
        async with free:
            with suppress(CallgateError):
                findings[ref] = await detector.find(ref)
        done += 1
        if on_step:
            on_step(Step(done, len(findings), ref))

    await asyncio.gather(*(look(ref) for ref in findings))
    return findings


def _is_new(finding: Finding, began: float) -> bool:
    return not finding.failure and finding.facts.at >= began


def _note_who_is_there(registry: Registry, findings: Mapping[ModelRef, Finding | None]) -> tuple[str, ...]:
    """When those in the registry were last seen, and where; gives the ids of those that weren't.

    Raises: StorageError.
    """
    there = {key_of(ref): ref for ref in findings}
    records = list(registry.records())
    known = {there[record.key] for record in records if record.key in there}
    now = moment_of(time.time())
    if known:
        registry.update_each({ref: partial(_seen, ref, findings[ref], now) for ref in known})
    return tuple(record.id for record in records if record.key not in there)


def _seen(ref: ModelRef, finding: Finding | None, now: str, record: ModelRecord | None) -> Fields:
    """What was seen of a model that has changed keeps the digest that it was seen of: it doesn't count for the new."""
    if record is None:  # forgotten meanwhile
        return Fields()
    seen = Fields(last_seen=now)
    if finding is not None and not finding.failure:
        if endpoint := finding.facts.endpoint:
            seen["endpoint"] = shown(endpoint)
        if (digest := digest_of(ref, finding.facts)) and (is_users_word(record) or record.tool_support is None):
            seen["digest"] = digest
        if digest and record.validated_digest and digest != record.validated_digest:  # another model by the same name
            seen |= Fields(validated_at=None, validated_digest=None, validated_suite=None, validated_rates=None)
    return seen
