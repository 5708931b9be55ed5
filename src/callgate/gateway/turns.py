"""One answer of a model: whoever gives it, what was done to it, and what it took."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import Any

from callgate.gate import Plan
from callgate.gateway.dialect import Explanation
from callgate.gateway.metrics import Metrics
from callgate.runtime import Fallback, Session, is_recoverable
from callgate.vocabulary import (
    CallgateError,
    ChatRequest,
    Event,
    ModelRef,
    Notice,
    StreamCut,
    ToolCallEvent,
    Usage,
    repair_as_json,
)


class Told:
    """What is to be told of an answer besides the answer."""

    def __init__(self, ref: ModelRef) -> None:
        self.ref = ref
        self.has_changed = False
        """Another model than the one that was asked for gives the answer."""
        self.mode = "off"
        self.notices: list[Notice] = []
        self.repairs: list[dict[str, Any]] = []
        self.usage: Usage | None = None

    def plan(self, plan: Plan) -> None:
        self.mode = plan.mode

    def explanation(self) -> Explanation:
        notices = [{"kind": notice.kind, "message": notice.message} for notice in self.notices]
        return {"mode": self.mode, "model": str(self.ref), "repairs": self.repairs, "notices": notices}


class Turns:
    def __init__(self, session: Session, fallback: Fallback, metrics: Metrics) -> None:
        self._session = session
        self._fallback = fallback
        self._metrics = metrics

    async def begin(self, told: Told, request: ChatRequest) -> tuple[Event, AsyncGenerator[Event, None]]:
        """The first event and those that follow, of the model that was asked for or of one that takes over before
        anything was said. The caller closes them.

        Raises: as `Session.turn` does.
        """
        started = time.monotonic()
        failed: list[ModelRef] = []
        problem: CallgateError | None = None
        while True:
            events = self._session.turn(told.ref, request, on_plan=told.plan)
            try:
                first = await anext(events)
            except StopAsyncIteration:
                raise StreamCut(f"{told.ref.name!r} gave no answer") from None
            except CallgateError as error:
                await events.aclose()
                problem = problem or error
                failed.append(told.ref)
                if not is_recoverable(error) or (onward := await self._onward(failed)) is None:
                    raise problem from None
                told.notices.append(Notice("model_changed", f"{onward.name!r} takes over: {error.message}"))
                told.ref, told.has_changed = onward, True
            except BaseException:
                await events.aclose()
                raise
            else:
                self._metrics.first_token.observe(time.monotonic() - started, told.ref.name)
                return first, events

    async def _onward(self, failed: list[ModelRef]) -> ModelRef | None:
        for ref in self._fallback.after(failed):
            if await self._fallback.agrees_to(ref):
                return ref
        return None

    def hear(self, told: Told, event: Event) -> None:
        """Counts what isn't just text."""
        model = told.ref.name
        if isinstance(event, ToolCallEvent):
            self._metrics.calls.add(model, told.mode)
            for repair in event.call.repairs:
                self._metrics.repairs.add(model, repair.rule)
                told.repairs.append({"call": event.call.id, **repair_as_json(repair)})
        elif isinstance(event, Notice):
            self._metrics.notices.add(model, event.kind)
            told.notices.append(event)
        elif isinstance(event, Usage):
            told.usage = event
            self._metrics.tokens.add(model, "prompt", by=event.prompt_tokens or 0)
            self._metrics.tokens.add(model, "completion", by=event.completion_tokens or 0)
