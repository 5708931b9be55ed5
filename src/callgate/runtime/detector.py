"""What can this model do? Looks at it once, remembers the answer for a while, and serves many who ask at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from callgate.detect import TemplateSandbox
from callgate.runtime.finding import Finding, find_in, weigh
from callgate.runtime.looks import Looks
from callgate.settings import Settings, load_settings
from callgate.vocabulary import (
    Answer,
    BackendError,
    CallgateError,
    Capabilities,
    Evidence,
    Facts,
    ModelRef,
    NotFound,
)

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

log = logging.getLogger(__name__)
logging.getLogger("callgate").addHandler(logging.NullHandler())  # a library is silent unless it is asked

DEFAULT_CONTEXT = 4096
USABLE_SHARE = 0.8
"""The part of a context that a conversation may fill; the rest is for the answer."""


class Knowledge(Protocol):
    """What the user said of models, and what was observed of them."""

    def evidence(self, ref: ModelRef) -> Iterable[Evidence]: ...


class _Remembered(msgspec.Struct, frozen=True):
    finding: Finding
    until: float
    """On the monotonic clock."""


class AsyncDetector:
    """Finds out what models can do.

    Belongs to the event loop that it is first used in. A server that fails makes no error here but a guess,
    marked as such and soon forgotten.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        knowledge: Knowledge | None = None,
        sandbox: TemplateSandbox | None = None,
    ) -> None:
        self._settings = settings or load_settings()
        self._knowledge = knowledge
        self._sandbox = sandbox or TemplateSandbox()
        self._looks = Looks(self._settings)
        self._remembered: dict[tuple[ModelRef, str | None], _Remembered] = {}
        self._under_way: dict[tuple[ModelRef, str | None], asyncio.Task[Finding]] = {}
        self._told: set[str] = set()

    async def capabilities(self, ref: ModelRef | str) -> Capabilities:
        """Raises: UsageError or HeaderError, if `ref` names a file that is no good; never for a server that fails."""
        return (await self.find(ref)).capabilities

    async def find(self, ref: ModelRef | str) -> Finding:
        """The capabilities with the facts behind them. Raises as `capabilities` does."""
        ref = ModelRef.parse(ref) if isinstance(ref, str) else ref
        key = (ref, self._looks.version_of(ref))
        remembered = self._remembered.get(key)
        if remembered is not None and time.monotonic() < remembered.until:
            return self._with_knowledge(ref, remembered.finding)
        if (task := self._under_way.get(key)) is None:
            task = self._under_way[key] = asyncio.create_task(self._look(ref, key))
            task.add_done_callback(lambda done: self._done(key, done))
        # One asker may give up without taking the answer from the others.
        return self._with_knowledge(ref, await asyncio.shield(task))

    def _done(self, key: tuple[ModelRef, str | None], task: asyncio.Task[Finding]) -> None:
        self._under_way.pop(key, None)
        if not task.cancelled():
            task.exception()  # seen, even if every asker has gone

    async def effective_context(self, ref: ModelRef | str) -> int:
        """How many tokens a conversation may take, so that there is room for an answer."""
        known = await self.capabilities(ref)
        return int(USABLE_SHARE * (known.context_length or DEFAULT_CONTEXT))

    async def can_use_tools(self, ref: ModelRef | str) -> bool:
        return (await self.capabilities(ref)).tools is Answer.YES

    async def find_best(
        self,
        models: Sequence[ModelRef | str],
        *,
        tools: bool = False,
        vision: bool = False,
        min_context: int = 0,
    ) -> ModelRef | str | None:
        """The first of `models` that can do what is asked for, and never one for embedding."""
        findings = await asyncio.gather(*(self.find(model) for model in models), return_exceptions=True)
        for model, finding in zip(models, findings, strict=True):
            if isinstance(finding, Finding) and _suits(finding.capabilities, tools, vision, min_context):
                return model
        return None

    async def models(self) -> list[ModelRef]:
        """The models of the local Ollama. Raises: BackendError, if it doesn't answer."""
        return await self._looks.ollama_models()

    def clear(self) -> None:
        """Forget everything, so that each model is looked at anew."""
        self._remembered.clear()
        self._told.clear()

    async def close(self) -> None:
        for task in list(self._under_way.values()):
            task.cancel()
        await self._looks.close()
        self._sandbox.close()  # at once: it kills its child

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def _look(self, ref: ModelRef, key: tuple[ModelRef, str | None]) -> Finding:
        failure: CallgateError | None = None
        keep = self._settings.detect.cache_ttl
        try:
            facts = await self._looks.look(ref)
        except (BackendError, NotFound) as error:
            if ref.scheme == "file":
                raise
            failure, keep = error, self._settings.detect.guess_ttl
            facts = Facts(name=ref.name, failure=error.message, at=time.time())
            self._tell_once(error)
        finding = await asyncio.to_thread(find_in, facts, self._sandbox, failure)
        self._remembered[key] = _Remembered(finding, time.monotonic() + keep)
        return finding

    def _with_knowledge(self, ref: ModelRef, finding: Finding) -> Finding:
        more = tuple(self._knowledge.evidence(ref)) if self._knowledge else ()
        return weigh(finding.facts, (*more, *finding.evidence), finding.failure) if more else finding

    def _tell_once(self, error: CallgateError) -> None:
        if error.message not in self._told:
            self._told.add(error.message)
            log.warning("%s; going by the model's name for now", error.message)


def _suits(known: Capabilities, tools: bool, vision: bool, min_context: int) -> bool:
    return (
        not known.is_embedding
        and (not tools or known.tools is Answer.YES)
        and (not vision or known.supports_vision is True)
        and (known.context_length or 0) >= min_context
    )
