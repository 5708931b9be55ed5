"""One answer of a model: whoever gives it, what was done to it, and what it took."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from callgate.backends import Embedded, Embeds
from callgate.gate import CUT_OFF, Plan
from callgate.gateway.catalogue import Catalogue
from callgate.gateway.dialect import Explanation
from callgate.gateway.discretion import discreet, discreet_name, discreet_ref
from callgate.gateway.endpoints import Endpoints, Lease, is_servers_fault
from callgate.gateway.given.left_out import LONGEST_NAME
from callgate.gateway.health import HealthChecks
from callgate.gateway.metrics import Metrics
from callgate.gateway.outsized import LONG, characters_of, refuse_outsized
from callgate.gateway.required import require_known_tools
from callgate.runtime import Fallback, Session, is_recoverable
from callgate.vocabulary import (
    CallgateError,
    ChatRequest,
    Done,
    Event,
    ModelRef,
    ModelRejected,
    Notice,
    StreamCut,
    ToolCallEvent,
    Usage,
    UsageError,
    repair_as_json,
)

MOST_KINDS = 12
"""Of notices, that are named in a header."""
_KIND = re.compile("[a-z0-9_]{1,40}").fullmatch

Begun = tuple[Event, AsyncGenerator[Event, None]]
"""The first event of an answer, and those that follow."""


class Told:
    """What is to be told of an answer besides the answer."""

    def __init__(self, ref: ModelRef) -> None:
        self.ref = ref
        self.model = discreet_name(ref)
        """What it is called where it is counted."""
        self.has_changed = False
        """Another model than the one that was asked for gives the answer."""
        self.mode = "off"
        self.trimmed = 0
        """How many tools the model wasn't offered."""
        self.notices: list[Notice] = []
        self.repairs: list[dict[str, Any]] = []
        self.usage: Usage | None = None
        self.finish: str | None = None
        """Why the model ended its answer, if it did."""
        self.first_seconds: float | None = None
        """Until the model said something."""
        self.lease: Lease | None = None
        self.error: CallgateError | None = None
        """What ended the answer, if something did."""

    @property
    def kinds(self) -> list[str]:
        """Of the notices, each once, as they may stand in a header; so many."""
        return [kind for kind in dict.fromkeys(notice.kind for notice in self.notices) if _KIND(kind)][:MOST_KINDS]

    def is_of(self, ref: ModelRef) -> None:
        """It is this one that gives the answer."""
        if ref is not self.ref:
            self.ref, self.model = ref, discreet_name(ref)

    def plan(self, plan: Plan) -> None:
        self.mode = plan.mode
        self.trimmed = plan.trimmed

    def end(self) -> None:
        """Its server is free for others."""
        if self.lease:
            self.lease.end(self.error)

    def explanation(self) -> Explanation:
        notices = [{"kind": notice.kind, "message": discreet(notice.message)} for notice in self.notices]
        return {"mode": self.mode, "model": discreet_ref(self.ref), "repairs": self.repairs, "notices": notices}


class Turns:
    def __init__(
        self,
        session: Session,
        catalogue: Catalogue,
        fallback: Fallback,
        metrics: Metrics,
        endpoints: Endpoints,
        checks: HealthChecks,
    ) -> None:
        self._session = session
        self._catalogue = catalogue
        self._fallback = fallback
        self._metrics = metrics
        self._endpoints = endpoints
        self._checks = checks
        self._requires_tools = session.settings.models.require_tools

    async def begin(self, told: Told, refs: Sequence[ModelRef], request: ChatRequest) -> Begun:
        """The first event and those that follow: of the model that was asked for, at the least busy of its servers, or
        of whoever takes over before anything was said. The caller closes them, and ends what is `told`.

        Raises: as `Session.turn` does.
        """
        started = time.monotonic()
        problem = await self._catalogue.missing(refs) if self._catalogue.lacks(refs) else None
        failed = [*refs] if problem else []
        if problem and not (refs := await self._onward(told, refs, failed, problem)):
            raise problem
        while True:
            lease = told.lease = self._endpoints.lease(refs, failed)
            told.is_of(lease.endpoint.ref)
            events = self._session.turn(told.ref, request, on_plan=told.plan)
            try:
                if self._requires_tools or self._catalogue.lacks((told.ref,)):
                    await self.admit(told.ref)
                if characters_of(request) >= LONG:
                    await refuse_outsized(self._session, told.ref, request)
                if len(refs) > 1:
                    async with self._checks.while_it_lives(told.ref):
                        first = await anext(events, None)
                else:  # A lone server may take its time: it may be loading the model.
                    first = await anext(events, None)
                if first is None:
                    raise StreamCut(f"{told.ref.name!r} gave no answer")  # noqa: TRY301 - as if it had raised it
            except CallgateError as error:
                await events.aclose()
                lease.end(error)
                # Whoever asks for a model that isn't let in is told so, and gets no other in its place.
                if not told.has_changed and (isinstance(error, ModelRejected) or not is_recoverable(error)):
                    raise
                problem = problem or error
                failed.append(told.ref)
                onward = await self._onward(told, refs, failed, error) if is_recoverable(error) else ()
                if not onward:
                    raise problem from None
                refs = onward
            except BaseException:
                await events.aclose()
                lease.end()
                raise
            else:
                lease.answered()
                self._catalogue.saw(told.ref)
                told.first_seconds = time.monotonic() - started
                self._metrics.first_token.observe(told.first_seconds, told.model)
                if told.trimmed:
                    self._metrics.trimmed.add(told.model, by=told.trimmed)
                return first, events

    async def embed(self, told: Told, refs: Sequence[ModelRef], texts: Sequence[str]) -> Embedded:
        """No other model takes over: its vectors would be of another space. Raises: as `Embeds.embed` does."""
        failed: list[ModelRef] = []
        if problem := await self._catalogue.missing(refs):
            raise problem
        while True:
            lease = told.lease = self._endpoints.lease(refs, failed)
            ref = await self._session.resolve(lease.endpoint.ref)
            told.is_of(ref)
            await self.admit(ref)
            backend = self._session.backend(ref)
            if not isinstance(backend, Embeds):
                raise UsageError(f"{ref.name!r} can't embed", hint="choose a model for embedding")
            try:
                embedded = await backend.embed(ref.name, texts)
            except CallgateError as error:
                lease.end(error)
                failed.append(lease.endpoint.ref)
                if not is_recoverable(error):
                    raise
                problem = problem or error
                if not self._is_at_another(told, refs, failed, error):
                    raise problem from None
            else:
                lease.answered()
                self._catalogue.saw(ref)
                self.hear(told, Usage(embedded.tokens))
                return embedded

    async def admit(self, ref: ModelRef) -> None:
        """Before anything is asked of it.

        Raises: as `Catalogue.missing` gives; ModelRejected, if every model here must have tools and this one has none,
        or nobody knows.
        """
        if problem := await self._catalogue.missing((ref,)):
            raise problem
        if self._requires_tools:
            require_known_tools(await self._session.find(ref), ref.name)

    def _is_at_another(
        self, told: Told, refs: Sequence[ModelRef], failed: Sequence[ModelRef], error: CallgateError
    ) -> bool:
        if not (is_servers_fault(error) and self._endpoints.has_more(refs, failed)):
            return False
        told.notices.append(Notice("endpoint_changed", f"another server takes over: {error.message}"))
        self._metrics.failovers.add(told.model, "endpoint")
        return True

    async def _onward(
        self, told: Told, refs: Sequence[ModelRef], failed: list[ModelRef], error: CallgateError
    ) -> Sequence[ModelRef]:
        """Where the request goes next: to the model's other servers first, then to the models that take over."""
        if self._is_at_another(told, refs, failed, error):
            return refs
        for ref in self._fallback.after(failed):
            left = [each for each in await self._catalogue.everywhere(ref) if each not in failed]
            if left and await self._fallback.agrees_to(ref):
                self._metrics.failovers.add(told.model, "model")
                told.notices.append(Notice("model_changed", f"{discreet_name(left[0])!r} takes over: {error.message}"))
                told.has_changed = True
                return left
        return ()

    def hear(self, told: Told, event: Event) -> Event:
        """Counts what isn't just text. What a client may have of it: half a call is but a notice, so that nobody can
        run it.
        """
        if type(event) is ToolCallEvent and event.call.problem == CUT_OFF:
            name = event.call.name[:LONGEST_NAME]
            event = Notice(
                "call_cut_off", f"the answer was cut off in the middle of a call of {name!r}, which is left out"
            )
        if type(event) is ToolCallEvent:
            self._metrics.calls.add(told.model, told.mode)
            for repair in event.call.repairs:
                self._metrics.repairs.add(told.model, repair.rule)
                told.repairs.append({"call": event.call.id, **repair_as_json(repair)})
        elif type(event) is Notice:
            self._metrics.notices.add(told.model, event.kind)
            told.notices.append(event)
        elif type(event) is Usage:
            told.usage = event
            self._metrics.tokens.add(told.model, "prompt", by=event.prompt_tokens or 0)
            self._metrics.tokens.add(told.model, "completion", by=event.completion_tokens or 0)
        elif type(event) is Done:
            told.finish = event.reason
        return event
