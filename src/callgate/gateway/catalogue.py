"""The models that are served, by the names that clients know.

Clients may name what was found and what the owner of the server named, and nothing else: no file or server of their
own choice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from callgate.detect import Finding
from callgate.gateway.dialect import ServedModel
from callgate.runtime import FoundModel, ModelReport, Session, StockedModel, discover_async
from callgate.vocabulary import IN_THE_BOX, CallgateError, ModelRef, ModelRejected, NotFound, UsageError

FRESH_SECONDS = 5.0
"""How old a list of models may be."""
IMPATIENCE_SECONDS = 1.0
"""How old it may be where a name isn't in it."""
LOOKS_AT_ONCE = 16
_NEAREST = 3
_LATEST = ":latest"


class Catalogue:
    def __init__(
        self, session: Session, *, default: str | None = None, aliases: Mapping[str, str] | None = None
    ) -> None:
        """Raises: UsageError, if a name can't be one of a model."""
        self._session = session
        self._default = ModelRef.parse(default) if default else None
        self._aliases = {alias: ModelRef.parse(name) for alias, name in (aliases or {}).items()}
        self._named = {str(ref): ref for ref in filter(None, (self._default, *self._aliases.values()))}
        if default and self._default:
            self._named[default] = self._default
        self._found: dict[str, FoundModel] = {}
        self._by_name: dict[str, ModelRef] = {}
        self._problems: tuple[CallgateError, ...] = ()
        self._looked_at = -1e9
        self._looking = asyncio.Lock()

    async def ref(self, name: str) -> ModelRef:
        """Raises: NotFound, which names the nearest; UsageError, if there is no name and no default."""
        if not name:
            if self._default is None:
                raise UsageError("the request names no model", hint="name one, or start with `callgate serve --model`")
            return self._default
        if (known := self._known(name)) is None:
            await self._look(IMPATIENCE_SECONDS)
            known = self._known(name)
        if known is None:
            raise self._no_such(name)
        return known

    async def models(self) -> list[ServedModel]:
        """All there are, as far as they may be used here."""
        await self._look(FRESH_SECONDS)
        slots = asyncio.Semaphore(LOOKS_AT_ONCE)

        async def looked_at(id_: str, found: FoundModel) -> ServedModel | None:
            async with slots:
                try:
                    return await self._served(id_, found)
                except ModelRejected:
                    return None

        listed = await asyncio.gather(*(looked_at(id_, found) for id_, found in self._listed().items()))
        return [model for model in listed if model]

    async def model(self, name: str) -> ServedModel:
        """Raises: as `ref` does; ModelRejected, if models must have tools and this one has none."""
        ref = await self._session.resolve(await self.ref(name))
        found = next((each for each in self._found.values() if each.ref == ref), None)
        return await self._served(name or ref.name, found or _named_by_owner(ref))

    def _known(self, name: str) -> ModelRef | None:
        if (ref := self._aliases.get(name) or self._named.get(name) or self._by_name.get(name)) is not None:
            return ref
        if name in (*IN_THE_BOX, "auto"):
            return ModelRef(name, name)
        return self._by_name.get(name + _LATEST) or self._by_name.get(name.removesuffix(_LATEST))

    def _listed(self) -> dict[str, FoundModel]:
        """By their ids: the owner's own names first."""
        by_ref = {found.ref: found for found in self._found.values()}
        own: Iterable[tuple[str, ModelRef]] = [*self._aliases.items()]
        if self._default and self._default.scheme != "auto" and self._default not in by_ref:
            own = [(str(self._default), self._default), *own]
        return {**{id_: by_ref.get(ref) or _named_by_owner(ref) for id_, ref in own}, **self._found}

    async def _look(self, oldest: float) -> None:
        """Many who ask at once wait for one look."""
        if time.monotonic() - self._looked_at < oldest:
            return
        async with self._looking:
            if time.monotonic() - self._looked_at < oldest:
                return
            discovery = await discover_async(self._session.settings)
            self._problems = discovery.problems
            self._found = _by_id(discovery.models)
            self._by_name = {
                **{str(found.ref): found.ref for found in discovery.models},
                **{id_: found.ref for id_, found in self._found.items()},
            }
            self._looked_at = time.monotonic()

    async def _served(self, id_: str, found: FoundModel) -> ServedModel:
        finding: Finding | None = None
        error: CallgateError | None = None
        started = time.perf_counter()
        try:
            finding = await self._session.find(found.ref)
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
        stocked = StockedModel(found, report)
        return ServedModel(id=id_, stocked=stocked, mode=mode, reason=reason, facts=finding.facts if finding else None)

    def _no_such(self, name: str) -> NotFound:
        names = [*self._aliases, *self._found]
        near = get_close_matches(name, names, n=_NEAREST, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?"
        if not near:
            hint = "; ".join(["/v1/models lists those there are", *(problem.message for problem in self._problems)])
        return NotFound(f"model {name[:200]!r} not found", hint=hint)


def _by_id(models: Sequence[FoundModel]) -> dict[str, FoundModel]:
    """Each by what people call it; of two that are called alike, the second by its whole name."""
    found: dict[str, FoundModel] = {}
    for model in models:
        found.setdefault(model.name if model.name not in found else str(model.ref), model)
    return found


def _named_by_owner(ref: ModelRef) -> FoundModel:
    return FoundModel(ref=ref, name=ref.name, backend=ref.scheme, place="named when the server was started")
