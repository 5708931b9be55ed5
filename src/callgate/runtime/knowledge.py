"""What the user said of models and what was seen of them, as evidence; and where to put it when there is more."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from typing import Literal, Protocol, cast

import msgspec

from callgate.detect import Finding, weigh
from callgate.registry import (
    Fields,
    ModelRecord,
    Note,
    Registry,
    SessionNotes,
    as_moment,
    moment_of,
)
from callgate.runtime.derivations import Derivations
from callgate.runtime.file_digests import content_digest
from callgate.settings import Settings
from callgate.vocabulary import Answer, ChatRequest, Evidence, Facts, ModelRef, Source, UsageError
from callgate.wire import shown

Seen = Literal["auto_detected", "runtime_error", "profile"]
"""A live probe; a turn that went wrong, or right; what a validation came to."""

Auto = Literal["auto"]

_USERS_WORD = "user_confirmed"
_SEEN_HOW = {
    "auto_detected": ("it called a tool when it was asked to", "it didn't take a tool when it was offered one"),
    "runtime_error": ("a turn with tools went well", "a turn with tools went wrong"),
    "profile": ("it passed a validation", "it failed a validation"),
}
_MOST_WHOLE = 256
_SAID = frozenset(
    {"tool_support", "tool_support_source", "tool_support_confirmed_at", "manual_context", "validated_at"}
)
VALIDATED = 0.8
"""What part of the trials has to pass before a model counts as validated."""


class Knowledge(Protocol):
    """What the user said of models, and what was observed of them."""

    def evidence(self, ref: ModelRef, facts: Facts) -> Iterable[Evidence]:
        """What is known of `ref`, of which `facts` were just found."""
        ...

    def believed(self, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
        """What counts of it."""
        ...


class ModelKnowledge:
    """What is kept in the registry, and what holds for this session."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.notes = SessionNotes()
        self._whole: dict[int, tuple[Evidence, ...]] = {}
        """Of which everything is believed: the same models are asked about over and over."""

    @cached_property
    def registry(self) -> Registry:
        return Registry.in_folder(self._settings.data_folder)

    def evidence(self, ref: ModelRef, facts: Facts) -> Iterator[Evidence]:
        if note := self.notes.get(ref):
            yield _said_on_tools(note.supported, Source.SESSION, f"in this session: {note.source}", note.timestamp)
        record = self.registry.get(ref)
        if record is None:
            return
        if record.tool_support is not None and counts(record, digest_of(ref, facts)):
            at = as_moment(record.tool_support_confirmed_at) or facts.at
            yield _said_on_tools(record.tool_support, _source(record), _detail(record), at)
        if record.manual_context is not None:
            said = "you set it, whatever the model says"
            yield Evidence("context_length", record.manual_context, Source.USER_CONFIRMED, said, facts.at)

    def believed(self, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
        """By `detect.sources`; the user's own word always counts, and notes decide nothing."""
        if self._whole.get(id(evidence)) is evidence:
            return cast("tuple[Evidence, ...]", evidence)
        sources = _believed_sources(self._settings.detect.sources)
        believed = tuple(found for found in evidence if found.source in sources or found.claim == "note")
        if isinstance(evidence, tuple) and len(believed) == len(evidence):
            if len(self._whole) >= _MOST_WHOLE:
                self._whole.clear()
            self._whole[id(evidence)] = evidence
        return believed

    def manual_context(self, ref: ModelRef) -> int | None:
        """How long its context is, by the user's word."""
        record = self.registry.get(ref)
        return record.manual_context if record else None

    def say(
        self, ref: ModelRef, *, tools: bool | Auto | None = None, context: int | Auto | None = None
    ) -> ModelRecord | None:
        """The user says whether it has tools, or how long its context is: kept, and stronger than all that is found.
        With `auto` it is found out from now on, whoever said what. Gives what is kept then.

        Raises: StorageError.
        """
        said = Fields()
        if tools == "auto":
            said |= Fields(tool_support=None, tool_support_source=None, tool_support_confirmed_at=None)
            self.notes.forget(ref)
        elif tools is not None:
            now = moment_of(time.time())
            said |= Fields(tool_support=tools, tool_support_source=_USERS_WORD, tool_support_confirmed_at=now)
        if context is not None:
            said["manual_context"] = None if context == "auto" else context
        return self.registry.update(ref, partial(_with_what_was_said, name_of(ref), said))

    def observe(self, ref: ModelRef, facts: Facts, *, tools: bool, how: Seen) -> ModelRecord | None:
        """Keeps what was seen of the model as it is now; the user's own word stays. Raises: StorageError."""
        seen = Fields(
            name=name_of(ref),
            tool_support=tools,
            tool_support_source=how,
            tool_support_confirmed_at=moment_of(time.time()),
            endpoint=shown(facts.endpoint) if facts.endpoint else None,
            digest=digest_of(ref, facts),
            server_version=facts.server_version,
        )
        return self.registry.update(ref, lambda record: Fields() if is_users_word(record) else seen)

    def keep_validation(self, ref: ModelRef, facts: Facts, *, suite: str, rates: Mapping[str, float]) -> None:
        """Keeps what a validation of the model as it is now came to: by mode, what part of it passed.

        Raises: StorageError.
        """
        done = Fields(
            validated_at=moment_of(time.time()),
            validated_digest=digest_of(ref, facts),
            validated_suite=suite,
            validated_rates=rates,
        )
        self.registry.update(ref, lambda record: done if record and record.name else Fields(name=name_of(ref), **done))

    def has_outdated_validation(self, ref: ModelRef) -> bool:
        """Nobody is asked: of a server's model counts what it was when it was last looked at."""
        record = self.registry.get(ref)
        return record is not None and _is_outdated(record, Derivations(self._settings).digest_seen(ref))

    def note(self, ref: ModelRef, *, tools: bool, why: str) -> Note:
        """For this session only, where it outranks everything that is kept."""
        return self.notes.put(ref, supported=tools, source=why)


def with_knowledge(finding: Finding, knowledge: Knowledge, ref: ModelRef) -> Finding:
    """What was found of `ref`, weighed with what is known of it, as far as it is believed."""
    own = tuple(knowledge.evidence(ref, finding.facts))
    evidence = knowledge.believed((*own, *finding.evidence) if own else finding.evidence)
    if evidence is finding.evidence or evidence == finding.evidence:
        return finding
    return weigh(finding.facts, evidence, failure=finding.failure, flaw=finding.flaw)


def is_users_word(record: ModelRecord | None) -> bool:
    """An entry that doesn't say who said so was written by hand."""
    return record is not None and record.tool_support is not None and record.tool_support_source in (None, _USERS_WORD)


def counts(record: ModelRecord, digest: str | None) -> bool:
    """The user's word holds for whatever goes by that name; what was seen, only for the model it was seen of."""
    return is_users_word(record) or not (record.digest and digest) or record.digest == digest


def digest_of(ref: ModelRef, facts: Facts) -> str | None:
    """What tells this version of the model from the next."""
    return facts.digest or content_digest(ref)


def is_validated(record: ModelRecord | None, digest: str | None) -> bool:
    """Whether enough of a validation passed, and it was this version of the model, as far as `digest` tells."""
    if record is None or max(record.validated_rates.values(), default=0.0) < VALIDATED:
        return False
    return not _is_outdated(record, digest)


def _is_outdated(record: ModelRecord, digest: str | None) -> bool:
    """Whether the validation was of another model by that name."""
    return bool(record.validated_digest and digest) and record.validated_digest != digest


def name_of(ref: ModelRef) -> str:
    """What people call it."""
    return os.path.basename(ref.name) if ref.scheme == "file" else ref.name


def with_manual_context(request: ChatRequest, ref: ModelRef, knowledge: ModelKnowledge) -> ChatRequest:
    """Ollama has to be told how much context a model gets: as much as the user said, unless the request says more."""
    if ref.scheme != "ollama" or "num_ctx" in request.options:
        return request
    own = request.extra.get("options")
    if isinstance(own, dict) and "num_ctx" in own:
        return request
    tokens = knowledge.manual_context(ref)
    return msgspec.structs.replace(request, options={**request.options, "num_ctx": tokens}) if tokens else request


def one_model(text: str) -> ModelRef:
    """The model that somebody says something of. Raises: UsageError, also for `auto`, which may be another tomorrow."""
    ref = ModelRef.parse(text)
    if ref.scheme == "auto":
        raise UsageError("'auto' is whatever is best at the time", hint="name the model: `callgate models` lists them")
    return ref


def _with_what_was_said(name: str, said: Fields, record: ModelRecord | None) -> Fields | None:
    """Where nothing is said any more, the whole entry goes."""
    said_before = {name for name in record.entry if name in _SAID or name in record.unknown} if record else set()
    left = said_before - said.keys() | {name for name, value in said.items() if value is not None}
    if not left:
        return None
    return said if record and record.name else Fields(name=name, **said)


@lru_cache(maxsize=8)
def _believed_sources(setting: str) -> frozenset[Source]:
    named = {Source(part.strip()) for part in setting.split(",")}
    return frozenset({*named, Source.SESSION, Source.USER_CONFIRMED, Source.DEFAULT})


def _said_on_tools(supported: bool, source: Source, detail: str, at: float) -> Evidence:
    return Evidence("tools", Answer.of(supported), source, detail, at)


def _source(record: ModelRecord) -> Source:
    return Source.USER_CONFIRMED if is_users_word(record) else Source.OBSERVED


def _detail(record: ModelRecord) -> str:
    if is_users_word(record):
        return "you said so"
    good, bad = _SEEN_HOW.get(record.tool_support_source or "", ("it was seen to", "it was seen not to"))
    return good if record.tool_support else bad
