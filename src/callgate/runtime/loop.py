"""The agent's loop: a model is asked, its calls are run, it gets what came of them, and so on until it answers."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Literal

import msgspec

from callgate.runtime.budget import Budget, budget_of, context_of
from callgate.runtime.fallback import Fallback, is_recoverable
from callgate.runtime.limits import Clock, Limits, TimeIsUp
from callgate.runtime.loop_events import LoopEvent, ModelChanged
from callgate.runtime.permissions import Permissions
from callgate.runtime.said import Said, summed
from callgate.runtime.session import Session
from callgate.runtime.tool_rounds import ToolRounds
from callgate.runtime.toolbox import Toolbox
from callgate.vocabulary import (
    AssistantDelta,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Message,
    ModelRef,
    Notice,
    ThinkingDelta,
    ToolCallEvent,
    Usage,
)

log = logging.getLogger(__name__)

MOST_IDLE_ROUNDS = 2
"""The first tells the model what is wrong; if the next is no better, it has to answer without tools."""

Ended = Literal["answered", "calls_left", "turns", "idle", "time"]
"""How it came out: with an answer; with calls that somebody else has to run; or without an answer, for it called tools
too often, could run none of its calls twice in a row, or took too long."""

TurnOf = Callable[[ModelRef, ChatRequest], AsyncGenerator[Event, None]]


class Agent:
    """A session with tools. What was said to the user once isn't said with every answer."""

    def __init__(
        self,
        session: Session,
        toolbox: Toolbox | None = None,
        *,
        permissions: Permissions | None = None,
        limits: Limits | None = None,
        fallback: Fallback | None = None,
        turn: TurnOf | None = None,
    ) -> None:
        """Without `permissions`, what isn't harmless is denied. `turn` is there for those who want to listen in."""
        self.session = session
        self.toolbox = toolbox or Toolbox()
        self.permissions = permissions or Permissions()
        self.limits = limits or Limits.of(session.settings)
        self.fallback = fallback or Fallback(settings=session.settings)
        self.turn = turn or session.turn
        self._failing: frozenset[str] = frozenset()
        self._warned: set[tuple[ModelRef, Notice]] = set()

    def answer(self, ref: ModelRef, request: ChatRequest) -> Answering:
        """Of the model `ref` to `request`; nothing is done before its events are asked for. The tools are the box's."""
        return Answering(self, ref, request)

    async def may_offer_tools(self, ref: ModelRef) -> bool:
        """Whether it is worth while to collect tools for this model."""
        try:
            return (await self.session.decision(ref)).mode != "off"
        except CallgateError:  # which its turn will meet, and tell
            return True

    async def refreshed(self) -> list[Notice]:
        """Asks the sources of tools what they have; gives what there is to say of those that fail, once."""
        failures = await self.toolbox.refresh()
        notices = [
            Notice("tools_missing", f"the tools of {failure.source!r} are missing: {failure.error.message}")
            for failure in failures
            if failure.source not in self._failing
        ]
        self._failing = frozenset(failure.source for failure in failures)
        return notices

    async def budget(self, ref: ModelRef, request: ChatRequest) -> Budget:
        """What the tools that are on cost this model."""
        try:
            context = await context_of(self.session, ref, request) if self.toolbox.tools else None
        except CallgateError:
            context = None
        return budget_of(self.toolbox.tools, context)

    def warning(self, ref: ModelRef, budget: Budget) -> Notice | None:
        """Of tools that leave too little of the context, once for each model and set of tools."""
        if (warning := budget.warning) is None or (ref, warning) in self._warned:
            return None
        self._warned.add((ref, warning))
        return warning


class Answering:
    """One message of the user's up to its answer."""

    def __init__(self, agent: Agent, ref: ModelRef, request: ChatRequest) -> None:
        self._agent = agent
        self._request = request
        self._added: list[Message] = []
        self._used: list[Usage] = []
        self._tried: list[ModelRef] = []
        self._has_shown = False
        self._clock = Clock(agent.limits.seconds)
        self.ref = ref
        """The model that answers: another one after a fall-back."""
        self.ended: Ended | None = None
        """`None` until it has ended in order."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the conversation has grown by, also if it was broken off: each turn of the model's, and the results."""
        return tuple(self._added)

    @property
    def usage(self) -> Usage | None:
        """Of all turns so far."""
        return summed(self._used)

    async def events(self) -> AsyncGenerator[LoopEvent, None]:
        """As they happen: `Done` at the end, once. Whoever closes it stops the model and its tools.

        Raises: as `Session.turn` does, after whoever can take over has tried.
        """
        agent = self._agent
        rounds = ToolRounds(agent.toolbox, agent.permissions, agent.limits, self._clock)
        choice = self._request.tool_choice
        why_last: Ended | None = None
        turns = 0
        try:
            while True:
                if await agent.may_offer_tools(self.ref):
                    for notice in await agent.refreshed():
                        yield notice
                said = Said()
                request = msgspec.structs.replace(
                    self._request,
                    messages=(*self._request.messages, *self._added),
                    tools=agent.toolbox.tools,
                    tool_choice="none" if why_last else choice,
                )
                async with aclosing(self._turn(request, said, is_last=why_last is not None)) as events:
                    async for event in events:
                        yield event
                choice = None
                if why_last or not said.calls:
                    self.ended = "answered" if said.text or why_last is None else why_last
                    yield said.done or Done("stop")
                    return
                budget = await agent.budget(self.ref, request)
                async with aclosing(rounds.run(said.calls, budget)) as happenings:
                    try:
                        async for happening in happenings:
                            yield happening
                    finally:
                        self._added += rounds.results
                turns += 1
                if not all(agent.toolbox.is_answered_here(call) for call in said.calls):
                    self.ended = "calls_left"
                    yield Done("tool_calls")
                    return
                self._clock.check()
                if turns >= agent.limits.turns:
                    why_last = "turns"
                    words = f"the model has called tools {turns} times over, and has to answer without them now"
                    yield Notice("turns_exhausted", words)
                elif rounds.idle >= MOST_IDLE_ROUNDS:
                    why_last = "idle"
                    yield Notice("calls_useless", "none of the model's calls can be run: it has to answer without them")
        except TimeIsUp:
            self.ended = "time"
            yield Notice("time_up", f"the answer took longer than {agent.limits.seconds:g} s, and was stopped")
            yield Done("cancelled")

    async def _turn(self, request: ChatRequest, said: Said, *, is_last: bool) -> AsyncGenerator[LoopEvent, None]:
        """One turn of the model, or of the one that takes over. What was said is kept, whatever happens."""
        try:
            while True:
                try:
                    budget = await self._agent.budget(self.ref, request)
                    if warning := self._agent.warning(self.ref, budget):
                        yield warning
                    sent = msgspec.structs.replace(request, tool_choice="none") if budget.is_too_much else request
                    async with aclosing(self._agent.turn(self.ref, sent)) as events:
                        while (event := await self._next(events)) is not None:
                            if is_last and isinstance(event, ToolCallEvent):
                                continue  # it was offered no tool
                            said.hear(event)
                            self._has_shown |= isinstance(event, AssistantDelta | ThinkingDelta | ToolCallEvent)
                            if not isinstance(event, Done):
                                yield event
                except CallgateError as error:
                    if self._has_shown or not is_recoverable(error):
                        raise
                    self._tried.append(self.ref)
                    async for happening in self._successor(error):
                        yield happening
                else:
                    return
        finally:
            self._used += said.used
            if said.is_something:
                self._added.append(said.message())

    async def _next(self, events: AsyncGenerator[Event, None]) -> Event | None:
        timeout = self._clock.timeout()
        try:
            async with timeout:
                return await anext(events, None)
        except TimeoutError:
            if timeout.expired():
                raise TimeIsUp from None
            raise

    async def _successor(self, error: CallgateError) -> AsyncGenerator[LoopEvent, None]:
        """Whoever takes the turn now, in `ref`. Raises: `error`, if nobody does."""
        fallback = self._agent.fallback
        for named in fallback.after(self._tried):
            # What `auto` stands for may be elsewhere, too, or the very one that failed.
            ref = (await self._agent.session.choose()).ref if named.scheme == "auto" else named
            if ref in self._tried:
                self._tried.append(named)
                continue
            with self._clock.stopped():
                agreed = await fallback.agrees_to(ref)
            if not agreed:
                self._tried += [named, ref]
                yield Notice("fallback_skipped", f"{ref.name!r} isn't asked, for it may cost money and nobody agreed")
                continue
            log.warning("%r takes over from %r: %s", ref.name, self.ref.name, error.message)
            cost = " (it may cost money)" if fallback.costs(ref) else ""
            yield ModelChanged(ref, f"{error.message}{cost}")
            self.ref = ref
            return
        raise error
