"""What can this model do? Looks at it once, remembers the answer for a while, and serves many who ask at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from callgate.detect import Finding, TemplateSandbox, find_in
from callgate.runtime.choice import Choice, choose
from callgate.runtime.derivations import Derivations, lasting_version, served_version
from callgate.runtime.discovery import discover_async
from callgate.runtime.hub_files import fetched_model
from callgate.runtime.knowledge import Knowledge, ModelKnowledge, with_knowledge
from callgate.runtime.looks import Looks
from callgate.runtime.memory import Made, Memory
from callgate.settings import Settings, load_settings
from callgate.vocabulary import (
    Answer,
    BackendError,
    CallgateError,
    Capabilities,
    Facts,
    ModelRef,
    NotFound,
    Unreachable,
)

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

log = logging.getLogger(__name__)
logging.getLogger("callgate").addHandler(logging.NullHandler())  # a library is silent unless it is asked

AUTO = ModelRef("auto", "auto")
STANDING_FOR_OTHERS = ("auto", "hf")
"""The schemes of names that mean a model which has another."""
DEFAULT_CONTEXT = 4096
USABLE_FIFTHS = 4
"""The part of a context that a conversation may fill; the rest is for the answer."""
MOST_TOLD = 1000


class AsyncDetector:
    """Finds out what models can do.

    Belongs to the event loop that it is first used in. A server that fails makes no error here but a guess,
    marked as such and soon forgotten. What the user said of models is heeded, unless `knowledge` says otherwise.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        knowledge: Knowledge | None = None,
        sandbox: TemplateSandbox | None = None,
    ) -> None:
        self._settings = settings or load_settings()
        self._knowledge: Knowledge = ModelKnowledge(self._settings) if knowledge is None else knowledge
        self._derivations = Derivations(self._settings)
        self._sandbox = sandbox or TemplateSandbox()
        self._owns_sandbox = sandbox is None
        self._looks = Looks(self._settings)
        self._findings: Memory[ModelRef, Finding] = Memory()
        self._choices: Memory[ModelRef, Choice] = Memory()
        self._told: set[str] = set()

    async def capabilities(self, ref: ModelRef | str) -> Capabilities:
        """Raises: UsageError or ModelFileError, if `ref` is a file that is no good; never for a server that fails."""
        return (await self.find(ref)).capabilities

    async def find(self, ref: ModelRef | str) -> Finding:
        """The capabilities with the facts behind them. Raises as `capabilities` does."""
        ref = await self._named(ref)
        finding = await self._findings.recall(ref, self._looks.version_of(ref), partial(self._look, ref))
        return with_knowledge(finding, self._knowledge, ref)

    def guess(self, ref: ModelRef) -> Finding:
        """What the user said of it and what its name tells, for those who can't wait until somebody answers."""
        failure = Unreachable(f"nobody has answered yet for {ref.name!r}")
        facts = Facts(name=self._looks.name_of(ref), failure=failure.message, at=time.time())
        return with_knowledge(find_in(facts, self._sandbox, failure), self._knowledge, ref)

    async def resolve(self, ref: ModelRef | str) -> ModelRef:
        """The model that would run: for `auto` what `choose` says; for one of the hub its file, if it was fetched.
        Every other name stands for itself.

        Raises: UsageError, if it is in quarantine.
        """
        named = await self._named(ref)
        return await asyncio.to_thread(fetched_model, named, self._settings) if named.scheme == "hf" else named

    async def _named(self, ref: ModelRef | str) -> ModelRef:
        ref = ModelRef.parse(ref) if isinstance(ref, str) else ref
        return (await self.choose()).ref if ref.scheme == "auto" else ref

    async def choose(self) -> Choice:
        """What `auto` stands for now, and why."""
        return await self._choices.recall(AUTO, None, self._choose)

    async def effective_context(self, ref: ModelRef | str) -> int:
        """How many tokens a conversation may take, so that there is room for an answer."""
        known = await self.capabilities(ref)
        return (known.context_length or DEFAULT_CONTEXT) * USABLE_FIFTHS // 5

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
        for model, finding in zip(models, await self._find_each(models), strict=True):
            if finding and _suits(finding.capabilities, tools, vision, min_context):
                return model
        return None

    async def models(self) -> list[ModelRef]:
        """The models of the local Ollama. Raises: BackendError, if it doesn't answer."""
        return await self._looks.ollama_models()

    def clear(self) -> None:
        """Forget everything, so that each model is looked at anew."""
        self._findings.clear()
        self._choices.clear()
        self._told.clear()
        self._derivations.distrust()

    def warm_up(self) -> None:
        """Starts ahead of the first look what takes its time to start, without waiting for it."""
        self._sandbox.start()

    async def flush(self) -> None:
        """Keeps on disk what was found, so that the next process needn't look again."""
        await asyncio.to_thread(self._derivations.flush)

    async def close(self) -> None:
        await self._choices.close()
        await self._findings.close()
        await self._looks.close()
        self._derivations.flush()  # here and now: a process that ends starts no thread any more
        if self._owns_sandbox:
            self._sandbox.close()  # at once: it kills its child

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def _look(self, ref: ModelRef) -> Made[Finding]:
        failure: CallgateError | None = None
        keep = self._settings.detect.cache_ttl
        version, lasting = self._looks.version_of(ref), lasting_version(ref)
        try:
            if kept := await self._looks.recall(ref, self._derivations, self._sandbox):
                return Made(kept, keep, self._looks.version_of(ref))
            facts = await self._looks.look(ref)
            if ref.scheme != "file":  # which may change while it is read
                version = self._looks.version_of(ref)
        except (BackendError, NotFound) as error:
            if ref.scheme == "file" and isinstance(error, NotFound):
                raise
            failure, keep = error, self._settings.detect.guess_ttl
            facts = Facts(name=self._looks.name_of(ref), failure=error.message, at=time.time())
            self._tell_once(f"{error.message}; going by the model's name for now")
        finding = await asyncio.to_thread(find_in, facts, self._sandbox, failure)
        if ref.scheme == "ollama" or lasting == lasting_version(ref):
            self._derivations.keep(ref, lasting or served_version(facts), finding)
        return Made(finding, keep, version)

    async def _choose(self) -> Made[Choice]:
        """Servers are asked all at once."""
        keep = min(self._settings.detect.guess_ttl, self._settings.detect.cache_ttl)  # models come and go
        found = await discover_async(self._settings, self._looks.http)
        for problem in found.problems:
            self._tell_once(problem.message)
        return Made(await choose(self._settings, found.models, self._find_each), keep)

    async def _find_each(self, models: Sequence[ModelRef | str]) -> list[Finding | None]:
        """`None` for what can't be looked at."""

        async def find(model: ModelRef | str) -> Finding | None:
            try:
                return await self.find(model)
            except CallgateError:
                return None

        return await asyncio.gather(*(find(model) for model in models))

    def _tell_once(self, message: str) -> None:
        if message not in self._told:
            if len(self._told) >= MOST_TOLD:
                self._told.clear()
            self._told.add(message)
            log.warning("%s", message)


def _suits(known: Capabilities, tools: bool, vision: bool, min_context: int) -> bool:
    return (
        not known.is_embedding
        and (not tools or known.tools is Answer.YES)
        and (not vision or known.supports_vision is True)
        and (known.context_length or 0) >= min_context
    )
