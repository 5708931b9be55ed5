"""One turn of a model: plan, stream, mend; and what a session learns on the way."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import AsyncGenerator, Callable
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec

from callgate.backends import Backend, Loading, LoadsModels, StatesMeans, backend_for, means_of, place_of, require_tools
from callgate.detect import Finding
from callgate.gate import (
    Decision,
    Observation,
    OwedCall,
    Plan,
    Policy,
    Routes,
    Strategy,
    decide,
    needs_knowledge,
    plan_by,
)
from callgate.runtime.choice import Choice
from callgate.runtime.detector import STANDING_FOR_OTHERS, AsyncDetector
from callgate.runtime.fitting import with_room_told
from callgate.runtime.knowledge import ModelKnowledge, with_manual_context
from callgate.runtime.policies import Surface, policy_for
from callgate.settings import Settings, load_settings
from callgate.vocabulary import (
    Answer,
    BadSchema,
    BadStatus,
    CallgateError,
    CallMissing,
    CallNotParsed,
    Capabilities,
    ChatRequest,
    Event,
    Facts,
    Means,
    ModelRef,
    ToolsRefused,
)
from callgate.wire import HttpClient

if TYPE_CHECKING:
    from callgate.runtime.refresh import Refreshed, Step

log = logging.getLogger(__name__)

Observer = Callable[[ModelRef, Observation], None]
Planned = Callable[[Plan], None]

_NOTHING_HELD = Means()
LATELY_SECONDS = 0.02
"""How long a server goes by what it knows of a model, rather than look again for each of many requests."""
_MOST_LATELY = 1_000
_MOST_FOOTINGS = 256
_OBJECTIONS = (400, 404, 415, 422, 500, 501)
_SEEING = re.compile(r"image|vision|multi-?modal|mmproj|content.{0,80}string", re.IGNORECASE | re.DOTALL)
"""Some servers only know of content that is a text."""
_HOLDING = re.compile(r"schema|grammar|response_format|structured|guided", re.IGNORECASE)


class _Footing(msgspec.Struct, frozen=True):
    """What turns of a model rest on, as long as that is what was found of it."""

    ref: ModelRef
    finding: Finding
    backend: Backend
    routes: Routes


class Session:
    """Backends that are open, and what was seen of their models. Belongs to one event loop.

    `surface` is where the user is: it decides what is done with tools for a model that can't call them.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        surface: Surface = "library",
        on_loading: Callable[[Loading], None] | None = None,
        on_observation: Observer | None = None,
    ) -> None:
        self._settings = settings or load_settings()
        self._surface: Surface = surface
        self._on_loading = on_loading
        self.on_observation = on_observation
        self._http = HttpClient()
        self.knowledge = ModelKnowledge(self._settings)
        """What the user said of models, and what is only noted for as long as this session lasts."""
        self._detector = AsyncDetector(self._settings, knowledge=self.knowledge)
        self.strategies: dict[ModelRef, Strategy] = {}
        """For some models another than the settings say, for as long as this session lasts."""
        self._open: dict[tuple[str, str], Backend] = {}
        self._stating_means: dict[Backend, StatesMeans | None] = {}
        self._lately: dict[ModelRef, tuple[Finding, float]] = {}
        self._policies: dict[ModelRef, Policy] = {}
        self._footings: dict[int, _Footing] = {}
        """By the identity of the finding, which is held."""
        self._refusals: dict[ModelRef, str] = {}
        """What servers said that refused tools for a model. They aren't sent any again in this session."""
        self._holding_nothing: set[ModelRef] = set()
        """Models whose server takes no schema."""
        self._blind: set[ModelRef] = set()
        """Of which nobody knew whether they see images, until their server refused one."""

    @property
    def settings(self) -> Settings:
        return self._settings

    def backend(self, ref: ModelRef) -> Backend:
        """Raises: UsageError, if nobody here can run such a model."""
        place = place_of(ref)
        if (known := self._open.get(place)) is not None:
            return known
        backend = self._open[place] = backend_for(ref, self._settings, self._http)
        # What it is takes longer to find out than all the rest of a plan.
        self._stating_means[backend] = backend if isinstance(backend, StatesMeans) else None
        if self._on_loading and isinstance(backend, LoadsModels):
            backend.tell_of_loading(self._on_loading)
        return backend

    async def resolve(self, ref: ModelRef) -> ModelRef:
        """The model that `auto` means; any other is itself."""
        return await self._detector.resolve(ref)

    async def choose(self) -> Choice:
        """What `auto` means now, and why."""
        return await self._detector.choose()

    async def refresh(self, on_step: Callable[[Step], None] | None = None) -> Refreshed:
        """Looks at models that are new or have changed: for the background, when a program starts. Never raises."""
        from callgate.runtime.refresh import refresh_models

        return await refresh_models(self._settings, detector=self._detector, knowledge=self.knowledge, on_step=on_step)

    def warm_up(self) -> None:
        """Starts what a look at a model needs, for those who will soon want to know and won't wait long."""
        self._detector.warm_up()

    async def find(self, ref: ModelRef) -> Finding:
        """What is known of the model. Raises: as `turn` does, before it asks anything."""
        ref = await self.resolve(ref)
        await self._require(ref)
        return _finding(ref, Answer.YES) if ref.scheme == "scripted" else await self._detector.find(ref)

    def guess(self, ref: ModelRef) -> Finding:
        """What is known of the model without asking anybody."""
        return self._detector.guess(ref)

    async def decision(self, ref: ModelRef) -> Decision:
        """How tools would reach the model: ask before you collect any. Raises: as `find` does."""
        ref = await self.resolve(ref)
        finding = await self.find(ref)
        refusal = self._refusals.get(ref)
        return decide(finding.capabilities, self._means(ref, finding.facts), self.policy(ref), refusal=refusal)

    async def plan(self, ref: ModelRef, request: ChatRequest) -> Plan:
        """How a turn of the model `ref` would be done, and what its backend would get."""
        ref = await self.resolve(ref)
        finding = self._at_hand(ref, request) or await self._look(ref)
        return self._plan(ref, request, self._footing(ref, finding), self._refusals.get(ref))

    async def turn(
        self, ref: ModelRef, request: ChatRequest, on_plan: Planned | None = None
    ) -> AsyncGenerator[Event, None]:
        """What the model `ref` answers to `request`, whatever model that names.

        Tools go to it in the way that suits it and its server. If that fails before anything was said, the next way is
        tried, down to none at all; a notice tells of it, and `on_plan` gets each way before it is tried.

        Raises: as `Backend.stream` does; ModelRejected, if every model here must have tools and this one has none.
        """
        if ref.scheme in STANDING_FOR_OTHERS:
            ref = await self.resolve(ref)
        if self._settings.models.require_tools:
            await self._require(ref)
        finding = self._at_hand(ref, request) or await self._look(ref)
        trouble = self._refusals.get(ref)
        first_failure: CallgateError | None = None
        while True:
            footing = self._footing(ref, finding)
            planned = self._plan(ref, request, footing, trouble)
            if on_plan:
                on_plan(planned)
            if request.tools:
                log.info("tools for %r: %s, because %s", ref.name, planned.mode, planned.reason)
            mender = planned.mender()
            owed = OwedCall() if planned.owes_a_call and self.policy(ref).strategy == "auto" else None
            has_said = False
            try:
                events = footing.backend.stream(planned.request)
                try:
                    async for event in events:
                        if not has_said:
                            has_said = True
                            for notice in planned.notices:
                                yield notice
                        passed = mender.feed(event)
                        for mended in owed.feed(passed) if owed else passed:
                            yield mended
                finally:
                    await events.aclose()
            except CallMissing as missing:
                log.info("%r: %s", ref.name, missing.message)
                trouble = missing.message
            except CallgateError as error:
                for mended in mender.close():
                    yield mended
                sees_nothing = finding.capabilities.supports_vision is None and _is_about_images(planned, error)
                if has_said or not (sees_nothing or self._may_try_again(ref, planned, error)):
                    raise first_failure or error from None
                log.warning("%s", error.message)
                first_failure = first_failure or error
                self._footings.clear()
                if sees_nothing:  # which is no reason to do without tools
                    self._blind.add(ref)
                else:
                    trouble = trouble or error.message
            else:
                return
            finally:
                for observation in mender.observations:
                    self._observe(ref, observation)

    def _plan(self, ref: ModelRef, request: ChatRequest, footing: _Footing, refusal: str | None) -> Plan:
        request = with_manual_context(request, ref, self.knowledge)
        return with_room_told(plan_by(footing.routes, request, refusal), ref, footing.finding)

    def _footing(self, ref: ModelRef, finding: Finding) -> _Footing:
        """The same as before, unless it may be another by now."""
        policy = self.policy(ref)
        known = self._footings.get(id(finding))
        if known is not None and known.routes.policy is policy and known.ref == ref:
            return known
        backend = self.backend(ref)
        templates = finding.facts.templates or {}
        routes = Routes(
            ref.name,
            self._known(ref, finding),
            self._means(ref, finding.facts),
            policy,
            templates.get("tool_use") or templates.get("default"),
        )
        footing = _Footing(ref, finding, backend, routes)
        if self._stating_means[backend] is None:
            if len(self._footings) >= _MOST_FOOTINGS:
                self._footings.clear()
            self._footings[id(finding)] = footing
        return footing

    def _known(self, ref: ModelRef, finding: Finding) -> Capabilities:
        """Our own engine sees nothing without a projector, whatever the model could."""
        is_ours = place_of(ref)[0] == "llamacpp" and not self._settings.llamacpp.projector
        if ref not in self._blind and not is_ours:
            return finding.capabilities
        return msgspec.structs.replace(finding.capabilities, supports_vision=False)

    def policy(self, ref: ModelRef) -> Policy:
        """What is wanted for this model. Raises: UsageError, if the settings can't be read."""
        if (policy := self._policies.get(ref)) is None:
            policy = self._policies[ref] = policy_for(ref, self._settings, self._surface)
        strategy = self.strategies.get(ref)
        return msgspec.structs.replace(policy, strategy=strategy) if strategy else policy

    def _means(self, ref: ModelRef, facts: Facts) -> Means:
        if ref in self._holding_nothing:
            return _NOTHING_HELD
        stating = self._stating_means[self.backend(ref)]
        return means_of(facts) if stating is None else stating.means(ref.name)

    def _at_hand(self, ref: ModelRef, request: ChatRequest) -> Finding | None:
        """What is known of the model without a look at it, where that is enough."""
        if ref.scheme == "scripted":
            return _finding(ref, Answer.YES)
        if not needs_knowledge(request):
            return _finding(ref, Answer.UNKNOWN)
        finding, until = self._lately.get(ref, (None, 0.0))
        return finding if time.monotonic() <= until else None

    async def _look(self, ref: ModelRef) -> Finding:
        finding = await self._detector.find(ref)
        if self._surface == "gateway":
            if len(self._lately) >= _MOST_LATELY:
                self._lately.clear()
            self._lately[ref] = finding, time.monotonic() + LATELY_SECONDS
        return finding

    async def _require(self, ref: ModelRef) -> None:
        if self._settings.models.require_tools and ref.scheme != "scripted":
            require_tools(await self._detector.capabilities(ref), ref.name)

    def _may_try_again(self, ref: ModelRef, planned: Plan, error: CallgateError) -> bool:
        match error:
            case ToolsRefused() if planned.mode == "native":
                self._refusals[ref] = error.message
                self._observe(ref, Observation("tools_refused", error.message))
                return True
            case CallNotParsed():
                return planned.mode == "native"
            case BadSchema() | BadStatus(status=400 | 422) if planned.is_held and _is_about_holding(error):
                self._holding_nothing.add(ref)
                return True
        return False

    def _observe(self, ref: ModelRef, observation: Observation) -> None:
        log.info("seen of %r: %s %s", ref.name, observation.kind, observation.detail)
        if self.on_observation:
            self.on_observation(ref, observation)

    async def close(self) -> None:
        for backend in self._open.values():
            await backend.close()
        self._open.clear()
        self._stating_means.clear()
        self._footings.clear()
        await self._detector.close()
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


def _is_about_images(planned: Plan, error: CallgateError) -> bool:
    """Whether a server refuses the images that it was sent."""
    if not isinstance(error, BadStatus) or error.status not in _OBJECTIONS:
        return False
    has_images = any(message.images for message in planned.request.messages)
    return has_images and bool(_SEEING.search(f"{error.message} {error.body}"))


def _is_about_holding(error: CallgateError) -> bool:
    """Whether it is the schema or the grammar that a server objects to, and not the rest of the request."""
    return isinstance(error, BadSchema) or bool(_HOLDING.search(getattr(error, "body", "")))


@lru_cache(maxsize=_MOST_FOOTINGS)
def _finding(ref: ModelRef, tools: Answer) -> Finding:
    """Of a model that wasn't looked at."""
    known = Capabilities(name=ref.name, tools=tools, native_route=tools)
    return Finding(facts=Facts(name=ref.name), evidence=(), capabilities=known)
