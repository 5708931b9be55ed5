"""The models that are served, by the names that clients know.

Clients may name what was found and what the owner of the server named, and nothing else: no file or server of their
own choice.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches

import msgspec

from callgate.detect import BOXED_FILE, Finding
from callgate.gateway.dialect import ServedModel
from callgate.gateway.endpoints import Endpoints
from callgate.gateway.loops import Loops
from callgate.gateway.owners_names import OwnersNames
from callgate.gateway.required import require_known_tools
from callgate.gateway.same_models import owners_places
from callgate.gateway.whereabouts import Whereabouts, may_be_anywhere
from callgate.runtime import Discovery, FoundModel, ModelReport, Session, StockedModel, discover_async
from callgate.vocabulary import (
    IN_THE_BOX,
    Answer,
    CallgateError,
    ModelRef,
    ModelRejected,
    NotFound,
    Unreachable,
    UsageError,
)
from callgate.wire import shown, shown_ref

log = logging.getLogger(__name__)

FRESH_SECONDS = 5.0
"""How old a list of models may be."""
IMPATIENCE_SECONDS = 1.0
"""How old it may be where a name isn't in it."""
STALE_SECONDS = 30.0
"""How old it may be where the owner named servers, each of which may come and go. Then the next look is taken aside."""
KEPT_SECONDS = 300.0
"""How long the models of such a server are known that doesn't answer: whoever asks for one is told that it fails, and
not that it never was.
"""
LOOKS_AT_ONCE = 16
_NEAREST = 3


class Catalogue:
    def __init__(
        self,
        session: Session,
        endpoints: Endpoints | None = None,
        *,
        default: str | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        """Raises: as `OwnersNames` does."""
        self._session = session
        self._endpoints = endpoints or Endpoints()
        self._names = OwnersNames(default=default, aliases=aliases)
        self._owners = owners_places(session.settings)
        self._loops = Loops(session.settings)
        self._requires_tools = session.settings.models.require_tools
        self._asks_around = bool(self._owners and session.settings.discovery.timeout)
        """Without servers of the owner's it is the Ollama here that tells what it has."""
        self._where = Whereabouts()
        self._silent_since: dict[str | None, float] = {}
        """When each of the owner's servers was first seen not to answer, of those that don't."""
        self._problems: tuple[CallgateError, ...] = ()
        self._looked_at = -1e9
        """When the last look began."""
        self._changed_at = -1e9
        self._looking = asyncio.Lock()
        self._aside: asyncio.Task[None] | None = None
        self._expect(*([ref for ref in refs if not may_be_anywhere(ref)] for refs in self._names.aliases.values()))

    async def close(self) -> None:
        if self._aside:
            self._aside.cancel()
            await asyncio.gather(self._aside, return_exceptions=True)

    async def refs(self, name: str) -> tuple[ModelRef, ...]:
        """The model of that name, at every server that has it. What the owner named is itself where nobody has it: then
        `missing` says why.

        Raises: NotFound, which names the nearest; BadStatus, if it may be missing for a loop; UsageError, if there is
        no name and no default.
        """
        known = self._known(name) if name else self._names.default
        if not name and not known:
            hint = "name one, or start with `callgate serve --model`"
            raise UsageError("the request names no model", hint=hint, param="model")
        if not known:
            await self._look(IMPATIENCE_SECONDS)
            known = self._known(name)
        if not known:
            raise await self._loops.found(name) or self._no_such(name)
        return await self._wherever(known)

    async def missing(self, refs: Sequence[ModelRef]) -> CallgateError | None:
        """Why none of `refs` can be asked, if it is known that nobody has them."""
        if (error := self._nowhere(refs)) is None:
            return None
        return await self._loops.found(refs[0].name) or error

    def lacks(self, refs: Sequence[ModelRef]) -> bool:
        """Whether `missing` has something to say."""
        return self._asks_around and self._looked_at >= 0 and not self._where.has(refs)

    def has_changed(self) -> None:
        """Somebody pulled, copied or deleted a model: what was seen before counts no longer."""
        self._changed_at = time.monotonic()

    def saw(self, ref: ModelRef) -> None:
        """It answered somebody: its server isn't silent, whether it tells of its models or not."""
        self._silent_since.pop(ref.endpoint, None)

    async def everywhere(self, ref: ModelRef) -> tuple[ModelRef, ...]:
        """The model that the owner calls that, at every server that has it; nothing, if it is known that nobody has."""
        alias = self._names.aliases.get(ref.name) if may_be_anywhere(ref) else None
        refs = await self._wherever(alias or (ref,))
        return () if self._nowhere(refs) else refs

    async def models(self) -> list[ServedModel]:
        """All there are, as far as they may be used here."""
        await self._look(FRESH_SECONDS)
        slots = asyncio.Semaphore(LOOKS_AT_ONCE)

        async def looked_at(id_: str, refs: Sequence[ModelRef]) -> ServedModel | None:
            async with slots:
                missing = self._nowhere(refs)
                if isinstance(missing, NotFound):
                    return None
                try:
                    served = await self._served(id_, self._found_as(self._endpoints.best(refs)), missing)
                except ModelRejected:
                    return None
                known = served.stocked.capabilities
                is_let_in = not self._requires_tools or (known is not None and known.tools is Answer.YES)
                return served if is_let_in else None

        listed = await asyncio.gather(*(looked_at(id_, refs) for id_, refs in self._listed().items()))
        return [model for model in listed if model]

    async def model(self, name: str) -> ServedModel:
        """Raises: as `refs` does; ModelRejected, if models must have tools and this one has none."""
        refs = await self.refs(name)
        missing = await self.missing(refs)
        if missing and not isinstance(missing, Unreachable):
            raise missing
        ref = await self._session.resolve(self._endpoints.best(refs))
        return await self._served(name or ref.name, self._found_as(ref), missing)

    def size_of(self, name: str) -> int:
        """In bytes, of a model that our own engine has loaded; 0, if nobody knows."""
        if name in IN_THE_BOX:
            return os.path.getsize(BOXED_FILE)
        ours = [*self._where.models, *map(_named_by_owner, self._names.by_text.values())]
        files = (found for found in ours if found.ref.scheme == "file" and os.path.basename(found.ref.name) == name)
        return next((found.size for found in files if found.size), 0)

    def _known(self, name: str) -> tuple[ModelRef, ...]:
        if (refs := self._names.aliases.get(name)) is not None:
            return refs
        if (ref := self._names.by_text.get(name)) is not None:
            return (ref,)
        if refs := self._where.exactly(name):
            return refs
        if name in (*IN_THE_BOX, "auto"):
            return (ModelRef(name, name),)
        return self._where.named(name)

    def _listed(self) -> dict[str, tuple[ModelRef, ...]]:
        """By their ids, wherever each of them is: the owner's own names first."""
        own = {alias: self._where.of(refs) or refs for alias, refs in self._names.aliases.items()}
        found = {each.ref for each in self._where.models}
        for ref in () if self._names.is_default_alias else self._names.default:
            if ref.scheme != "auto" and not found.intersection(self._where.of([ref])):
                own = {ref.name if may_be_anywhere(ref) else shown_ref(ref): (ref,), **own}
        return {**own, **{id_: refs for id_, refs in self._where.same.items() if id_ not in own}}

    async def _wherever(self, refs: tuple[ModelRef, ...]) -> tuple[ModelRef, ...]:
        if not any(map(may_be_anywhere, refs)):
            if self._owners:
                self._look_aside(STALE_SECONDS)
            return refs
        if self._looked_at < 0:
            await self._look(FRESH_SECONDS)
        elif self._owners and not self._where.has(refs):
            await self._look(IMPATIENCE_SECONDS)
        self._look_aside(FRESH_SECONDS if self._where.lacks(refs) else STALE_SECONDS)
        return self._where.of(refs) or refs

    def _nowhere(self, refs: Sequence[ModelRef]) -> CallgateError | None:
        """Why nobody has any of them."""
        if not self.lacks(refs):
            return None
        if not self._problems:
            return self._no_such(refs[0].name)
        why = "; ".join(problem.message for problem in self._problems)
        return Unreachable(f"no server has the model {refs[0].name!r} just now: {why}", hint="is the server running?")

    def _expect(self, *models: Sequence[ModelRef]) -> None:
        for refs in models:
            if len(refs) > 1:
                self._endpoints.expect(refs)

    def _found_as(self, ref: ModelRef) -> FoundModel:
        return next((each for each in self._where.models if each.ref == ref), None) or _named_by_owner(ref)

    def _look_aside(self, oldest: float) -> None:
        """So that a server is used that has come since, and nobody waits for it."""
        is_looking = self._aside is not None and not self._aside.done()
        if not is_looking and time.monotonic() - self._looked_at > oldest:
            self._aside = asyncio.create_task(self._look_quietly(oldest))

    async def _look_quietly(self, oldest: float) -> None:
        try:
            await self._look(oldest)
        except CallgateError as error:
            log.warning("%s", error.message)

    async def _look(self, oldest: float) -> None:
        """Many who ask at once wait for one look, however long that takes."""
        asked_at = time.monotonic()
        if self._is_fresh(oldest, asked_at):
            return
        async with self._looking:
            if self._is_fresh(oldest, asked_at):
                return
            began = time.monotonic()
            discovery = await discover_async(self._session.settings)
            self._problems = discovery.problems
            self._where = Whereabouts(_with_plain(self._with_silent(discovery)), self._owners)
            self._expect(*self._where.same.values(), *map(self._where.of, self._names.aliases.values()))
            self._looked_at = began

    def _is_fresh(self, oldest: float, now: float) -> bool:
        return self._looked_at > self._changed_at and now - self._looked_at < oldest

    def _with_silent(self, discovery: Discovery) -> tuple[FoundModel, ...]:
        """With the models of the owner's servers that don't answer just now."""
        now = time.monotonic()
        heard = {found.ref.endpoint for found in discovery.models}
        lost = [each for each in self._where.models if each.place in self._owners and each.ref.endpoint not in heard]
        if not discovery.problems:
            lost = []
        since = self._silent_since
        self._silent_since = {found.ref.endpoint: since.get(found.ref.endpoint, now) for found in lost}
        silent = [found for found in lost if now - self._silent_since[found.ref.endpoint] < KEPT_SECONDS]
        if not silent:
            return discovery.models
        served = [found for found in discovery.models if found.endpoint is not None]
        return (*served, *silent, *(found for found in discovery.models if found.endpoint is None))

    async def _served(self, id_: str, found: FoundModel, missing: CallgateError | None) -> ServedModel:
        finding: Finding | None = None
        error: CallgateError | None = None
        started = time.perf_counter()
        try:
            if missing:
                raise missing
            finding = await self._session.find(found.ref)
            if self._requires_tools:
                require_known_tools(finding, id_)
            decision = await self._session.decision(found.ref)
            mode, reason = decision.mode, decision.reason
        except ModelRejected:
            raise
        except CallgateError as problem:
            error, mode, reason = problem, "off", ""
        report = ModelReport(
            target=id_,
            model=finding.capabilities.name if finding else found.name,
            capabilities=finding.capabilities if finding else None,
            served=bool(finding and (finding.facts.server is not None or finding.failure is not None)),
            elapsed_ms=(time.perf_counter() - started) * 1000,
            error=error or (finding.failure or finding.flaw if finding else None),
        )
        endpoint = found.ref.endpoint and shown(found.ref.endpoint)
        public = msgspec.structs.replace(found, ref=msgspec.structs.replace(found.ref, endpoint=endpoint))
        stocked = StockedModel(public, report)
        return ServedModel(id=id_, stocked=stocked, mode=mode, reason=reason, facts=finding.facts if finding else None)

    def _no_such(self, name: str) -> NotFound:
        names = [*self._names.aliases, *self._where.same]
        near = get_close_matches(name, names, n=_NEAREST, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?"
        if not near:
            hint = "; ".join(["/v1/models lists those there are", *(problem.message for problem in self._problems)])
        return NotFound(f"model {name[:200]!r} not found", hint=hint)


def _with_plain(models: tuple[FoundModel, ...]) -> tuple[FoundModel, ...]:
    """The model in the box can be had without tools, too: what is offered is listed."""
    name = IN_THE_BOX[1]
    plain = [
        msgspec.structs.replace(found, ref=ModelRef(name, name), name=name)
        for found in models
        if found.ref.scheme == IN_THE_BOX[0]
    ]
    return (*models, *plain)


def _named_by_owner(ref: ModelRef) -> FoundModel:
    size, modified = None, None
    if ref.scheme == "file":
        with suppress(OSError, ValueError):
            stat = os.stat(ref.name)
            size, modified = stat.st_size, stat.st_mtime
    place = "named when the server was started"
    return FoundModel(ref=ref, name=ref.name, backend=ref.scheme, place=place, size=size, modified=modified)
