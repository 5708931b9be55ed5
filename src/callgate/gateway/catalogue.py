"""The models that are served, by the names that clients know.

Clients may name what was found and what the owner of the server named, and nothing else: no file or server of their
own choice.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches

import msgspec

from callgate.detect import BOXED_FILE, Finding
from callgate.gateway.dialect import ServedModel
from callgate.gateway.endpoints import Endpoints
from callgate.gateway.loops import Loops
from callgate.gateway.required import require_known_tools
from callgate.gateway.same_models import Same, by_id, owners_places
from callgate.runtime import Discovery, FoundModel, ModelReport, Session, StockedModel, discover_async
from callgate.vocabulary import IN_THE_BOX, Answer, CallgateError, ModelRef, ModelRejected, NotFound, UsageError
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
_LATEST = ":latest"


class Catalogue:
    def __init__(
        self,
        session: Session,
        endpoints: Endpoints | None = None,
        *,
        default: str | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        """An alias may stand for several models, with commas. Raises: UsageError, if a name can't be one of a model."""
        self._session = session
        self._endpoints = endpoints or Endpoints()
        self._default = ModelRef.parse(default) if default else None
        self._aliases = {alias: _refs(names) for alias, names in (aliases or {}).items()}
        named = [*filter(None, (self._default,)), *(ref for refs in self._aliases.values() for ref in refs)]
        self._named = {text: ref for ref in named for text in (str(ref), shown_ref(ref))}
        if default and self._default:
            self._named[default] = self._default
        self._owners = owners_places(session.settings)
        self._loops = Loops(session.settings)
        self._requires_tools = session.settings.models.require_tools
        self._models: tuple[FoundModel, ...] = ()
        self._silent_since: dict[str | None, float] = {}
        """When each of the owner's servers was first seen not to answer, of those that don't."""
        self._found: dict[str, Same] = {}
        self._by_name: dict[str, tuple[ModelRef, ...]] = {}
        self._problems: tuple[CallgateError, ...] = ()
        self._looked_at = -1e9
        """When the last look began."""
        self._changed_at = -1e9
        self._looking = asyncio.Lock()
        self._aside: asyncio.Task[None] | None = None
        for refs in self._aliases.values():
            self._endpoints.expect(refs)

    async def close(self) -> None:
        if self._aside:
            self._aside.cancel()
            await asyncio.gather(self._aside, return_exceptions=True)

    async def refs(self, name: str) -> tuple[ModelRef, ...]:
        """The model of that name, at every server that has it.

        Raises: NotFound, which names the nearest; BadStatus, if it may be missing for a loop; UsageError, if there is
        no name and no default.
        """
        if not name:
            if self._default is None:
                raise UsageError("the request names no model", hint="name one, or start with `callgate serve --model`")
            return await self.everywhere(self._default)
        if (known := self._known(name)) is None:
            await self._look(IMPATIENCE_SECONDS)
            known = self._known(name)
        if known is None:
            raise await self._loops.found(name) or self._no_such(name)
        if len(known) == 1:
            return await self.everywhere(known[0])
        self._look_aside()
        return known

    def has_changed(self) -> None:
        """Somebody pulled, copied or deleted a model: what was seen before counts no longer."""
        self._changed_at = time.monotonic()

    def saw(self, ref: ModelRef) -> None:
        """It answered somebody: its server isn't silent, whether it tells of its models or not."""
        self._silent_since.pop(ref.endpoint, None)

    async def everywhere(self, ref: ModelRef) -> tuple[ModelRef, ...]:
        """A name of Ollama's without an address is the model of that name wherever it is served; every other ref is
        what it says.
        """
        if self._owners and ref.scheme == "ollama" and ref.endpoint is None:
            if self._looked_at < 0:
                await self._look(FRESH_SECONDS)
            self._look_aside()
            return self._by_name.get(ref.name) or self._by_name.get(ref.name + _LATEST) or (ref,)
        return (ref,)

    async def models(self) -> list[ServedModel]:
        """All there are, as far as they may be used here."""
        await self._look(FRESH_SECONDS)
        slots = asyncio.Semaphore(LOOKS_AT_ONCE)

        async def looked_at(id_: str, found: FoundModel) -> ServedModel | None:
            async with slots:
                try:
                    served = await self._served(id_, found)
                except ModelRejected:
                    return None
                known = served.stocked.capabilities
                is_let_in = not self._requires_tools or (known is not None and known.tools is Answer.YES)
                return served if is_let_in else None

        listed = await asyncio.gather(*(looked_at(id_, found) for id_, found in self._listed().items()))
        return [model for model in listed if model]

    async def model(self, name: str) -> ServedModel:
        """Raises: as `refs` does; ModelRejected, if models must have tools and this one has none."""
        ref = await self._session.resolve(self._endpoints.best(await self.refs(name)))
        return await self._served(name or ref.name, self._found_as(ref))

    def size_of(self, name: str) -> int:
        """In bytes, of a model that our own engine has loaded; 0, if nobody knows."""
        if name in IN_THE_BOX:
            return os.path.getsize(BOXED_FILE)
        ours = [*self._models, *map(_named_by_owner, self._named.values())]
        files = (found for found in ours if found.ref.scheme == "file" and os.path.basename(found.ref.name) == name)
        return next((found.size for found in files if found.size), 0)

    def _known(self, name: str) -> tuple[ModelRef, ...] | None:
        if (refs := self._aliases.get(name)) is not None:
            return refs
        if (ref := self._named.get(name)) is not None:
            return (ref,)
        if (refs := self._by_name.get(name)) is not None:
            return refs
        if name in (*IN_THE_BOX, "auto"):
            return (ModelRef(name, name),)
        return self._by_name.get(name + _LATEST) or self._by_name.get(name.removesuffix(_LATEST))

    def _listed(self) -> dict[str, FoundModel]:
        """By their ids, each where it is best asked: the owner's own names first."""
        own = list(self._aliases.items())
        default = self._default
        if default and default.scheme != "auto" and all(default != found.ref for found in self._models):
            own = [(shown_ref(default), (default,)), *own]
        found = {id_: tuple(each.ref for each in same) for id_, same in self._found.items()}
        every = {**dict(own), **found}
        return {id_: self._found_as(self._endpoints.best(refs)) for id_, refs in every.items()}

    def _found_as(self, ref: ModelRef) -> FoundModel:
        return next((each for each in self._models if each.ref == ref), None) or _named_by_owner(ref)

    def _look_aside(self) -> None:
        """So that a server is used that has come since, and nobody waits for it."""
        is_looking = self._aside is not None and not self._aside.done()
        if self._owners and not is_looking and time.monotonic() - self._looked_at > STALE_SECONDS:
            self._aside = asyncio.create_task(self._look_quietly())

    async def _look_quietly(self) -> None:
        try:
            await self._look(STALE_SECONDS)
        except CallgateError as error:
            log.warning("%s", error.message)

    async def _look(self, oldest: float) -> None:
        """Many who ask at once wait for one look."""
        if self._is_fresh(oldest):
            return
        async with self._looking:
            if self._is_fresh(oldest):
                return
            began = time.monotonic()
            discovery = await discover_async(self._session.settings)
            self._problems = discovery.problems
            self._models = _with_plain(self._with_silent(discovery))
            self._found = by_id(self._models, self._owners)
            same = {id_: tuple(each.ref for each in found) for id_, found in self._found.items()}
            self._by_name = {**{shown_ref(found.ref): (found.ref,) for found in self._models}, **same}
            for refs in same.values():
                if len(refs) > 1:
                    self._endpoints.expect(refs)
            self._looked_at = began

    def _is_fresh(self, oldest: float) -> bool:
        return self._looked_at > self._changed_at and time.monotonic() - self._looked_at < oldest

    def _with_silent(self, discovery: Discovery) -> tuple[FoundModel, ...]:
        """With the models of the owner's servers that don't answer just now."""
        now = time.monotonic()
        heard = {found.ref.endpoint for found in discovery.models}
        lost = [each for each in self._models if each.place in self._owners and each.ref.endpoint not in heard]
        if not discovery.problems:
            lost = []
        since = self._silent_since
        self._silent_since = {found.ref.endpoint: since.get(found.ref.endpoint, now) for found in lost}
        silent = [found for found in lost if now - self._silent_since[found.ref.endpoint] < KEPT_SECONDS]
        if not silent:
            return discovery.models
        served = [found for found in discovery.models if found.endpoint is not None]
        return (*served, *silent, *(found for found in discovery.models if found.endpoint is None))

    async def _served(self, id_: str, found: FoundModel) -> ServedModel:
        finding: Finding | None = None
        error: CallgateError | None = None
        started = time.perf_counter()
        try:
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
        names = [*self._aliases, *self._found]
        near = get_close_matches(name, names, n=_NEAREST, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?"
        if not near:
            hint = "; ".join(["/v1/models lists those there are", *(problem.message for problem in self._problems)])
        return NotFound(f"model {name[:200]!r} not found", hint=hint)


def _refs(names: str) -> tuple[ModelRef, ...]:
    refs = dict.fromkeys(ModelRef.parse(name) for part in names.split(",") if (name := part.strip()))
    if not refs:
        raise UsageError("an alias names no model", hint="NAME=MODEL, or several models with commas")
    return tuple(refs)


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
