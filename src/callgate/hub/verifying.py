"""Looks at a model after it was fetched: its header once more, then the real engine, then a real call if asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, runtime_checkable

import msgspec

from callgate.backends import Backend, Loading, backend_for, free_memory, memory_to_run
from callgate.detect import Finding, TemplateSandbox, facts_of, find_in, read_header
from callgate.settings import LlamaCpp, Settings
from callgate.vocabulary import (
    IN_THE_BOX,
    Answer,
    BackendError,
    CallgateError,
    ChatRequest,
    EngineFailed,
    Evidence,
    Facts,
    HeaderError,
    Message,
    ModelRef,
    ModelRejected,
    NotTested,
    Source,
    StorageError,
    UsageError,
)
from callgate.wire import HttpClient

PROBE_SECONDS = 120.0
"""A model that was never loaded here before may take its time, and no answer in time is no answer."""

_SURROUNDINGS = ("it didn't call the test tool within", "the live probe failed:")
"""How a probe ends that says nothing of the model."""


@runtime_checkable
class _Engine(Protocol):
    async def loaded_facts(self, model: str) -> Facts: ...


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    finding: Finding
    engine: Evidence | None = None
    """What llama.cpp says of its tools; nothing if it wasn't asked."""
    probed: tuple[Evidence, ...] = ()
    was_loaded: bool = False
    notes: tuple[str, ...] = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        engine = (self.engine,) if self.engine else ()
        return (*self.probed, *self.finding.capabilities.evidence, *engine)


async def verify(
    path: str,
    settings: Settings,
    sandbox: TemplateSandbox,
    *,
    weights: int,
    expected: Finding | None = None,
    probe: bool = False,
    loading: Callable[[Loading], None] = lambda _: None,
) -> Verified:
    """`expected` is what was found before the download.

    Raises: HeaderError, if it is no model, or another than was looked at; EngineFailed, if it can't be loaded;
    ModelRejected, if it fails the probe; NotTested, if the probe couldn't be made.
    """
    facts = facts_of(await asyncio.to_thread(read_header, path), path, time.time())
    finding = await asyncio.to_thread(find_in, facts, sandbox)
    before, now = (expected.capabilities.tools if expected else None), finding.capabilities.tools
    if before is not None and before is not now:
        raise HeaderError(f"{path!r} isn't what was looked at before: tools were {before}, and now are {now}")
    needed, free = memory_to_run(facts, weights, settings.llamacpp), free_memory()
    if needed > free:
        note = f"it wasn't loaded: that takes about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free"
        if probe:
            raise _not_probed(path, note, "choose a smaller quantisation, or a smaller context")
        return Verified(finding=finding, notes=(note,))
    try:
        engine = await _loaded(path, settings, loading, talk=not finding.capabilities.is_embedding)
    except (UsageError, EngineFailed) as error:
        if isinstance(error, EngineFailed) and await _engine_works(settings):
            raise
        note = f"it wasn't loaded: {error.message}"
        if probe:
            raise _not_probed(path, note, error.hint) from None
        return Verified(finding=finding, notes=(note,))
    probed = await _probed(path, facts, settings, loading) if probe else ()
    return Verified(finding=finding, engine=engine, probed=probed, was_loaded=True, notes=_notes(finding, engine))


async def _engine_works(settings: Settings) -> bool:
    """It loads the model in the box: what it says of another is that one's fault, and not its own."""
    plain = msgspec.structs.replace(settings, llamacpp=LlamaCpp(server=settings.llamacpp.server))
    try:
        await _loaded(IN_THE_BOX[0], plain, lambda _: None, talk=True)
    except CallgateError:
        return False
    return True


def _not_probed(path: str, why: str, hint: str | None) -> NotTested:
    return NotTested(f"{path!r} can't be probed here: {why}", hint=hint)


async def _loaded(path: str, settings: Settings, loading: Callable[[Loading], None], *, talk: bool) -> Evidence | None:
    """Loads it in a child process, lets it say one word, and asks the engine what it thinks of its tools."""
    async with HttpClient() as http:
        backend = backend_for(ModelRef("file", path), settings, http)
        try:
            if not isinstance(backend, _Engine):
                return None
            if (tell := getattr(backend, "tell_of_loading", None)) is not None:
                tell(loading)
            facts = await backend.loaded_facts(path)
            if talk:
                await _say_a_word(backend, path)
        finally:
            await backend.close()
    return _by_its_caps(facts)


async def _say_a_word(backend: Backend, path: str) -> None:
    """Some models load, and their engine dies of the first token. That a template doesn't like to be greeted is no
    fault.
    """
    hello = ChatRequest(model=path, messages=(Message(role="user", content="Hello"),), max_tokens=1)
    try:
        async for _ in backend.stream(hello):
            pass
    except EngineFailed:
        raise
    except BackendError:
        return


def _by_its_caps(facts: Facts) -> Evidence | None:
    """llama.cpp's own word. Older ones look at the default template alone, even if there is a variant for tools."""
    caps = facts.answer.get("chat_template_caps") if facts.answer else None
    if not isinstance(caps, dict):
        return None
    able = [caps.get(claim) is True for claim in ("supports_tools", "supports_tool_calls")]
    shown = ", ".join(f"{name}={str(flag).lower()}" for name, flag in zip(("tools", "tool_calls"), able, strict=True))
    detail = f"llama.cpp's chat_template_caps say {shown}"
    return Evidence("tools", Answer.of(all(able)), Source.ENGINE, detail, time.time())


async def _probed(
    path: str, facts: Facts, settings: Settings, loading: Callable[[Loading], None]
) -> tuple[Evidence, ...]:
    from callgate.runtime import ModelKnowledge, Session, probe_live

    ref = ModelRef("file", path)
    patience = max(settings.detect.probe_timeout, PROBE_SECONDS)
    try:
        async with Session(settings, on_loading=loading) as session:
            found = tuple(await probe_live(session, ref, patience=patience))
    except CallgateError as error:
        raise _not_probed(path, error.message, error.hint) from None
    decided = next((piece for piece in found if piece.claim == "tools"), None)
    if decided is None or decided.answer != Answer.YES:
        why = decided.detail if decided else found[0].detail
        if why.startswith(_SURROUNDINGS):
            raise _not_probed(path, why, "try again when the machine has less to do")
        raise ModelRejected(f"{path!r} failed the live probe: {why}", hint="choose another model")
    with suppress(StorageError):
        ModelKnowledge(settings).observe(ref, facts, tools=True, how="auto_detected")
    return found


def _notes(finding: Finding, engine: Evidence | None) -> tuple[str, ...]:
    ours = finding.capabilities.tools
    if engine is None or engine.answer == ours:
        return ()
    why = " by its `tool_use` variant" if finding.capabilities.has_tool_use_template else ""
    return (f"llama.cpp says {engine.answer} to tools, and we say {ours}{why}",)
