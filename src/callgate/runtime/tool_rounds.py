"""One round of tools: the calls of one turn are judged, those that may be are run at once, and each has its result."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence

import msgspec

from callgate.runtime.budget import Budget
from callgate.runtime.limits import Clock, Limits
from callgate.runtime.loop_events import LoopEvent, ToolFinished, ToolStarted
from callgate.runtime.permissions import Permissions
from callgate.runtime.tool_runs import failed
from callgate.runtime.toolbox import Toolbox
from callgate.vocabulary import Message, Notice, ToolCall, ToolResult


class ToolRounds:
    """The rounds of one answer: what was called before counts."""

    def __init__(self, toolbox: Toolbox, permissions: Permissions, limits: Limits, clock: Clock) -> None:
        self._toolbox = toolbox
        self._permissions = permissions
        self._limits = limits
        self._clock = clock
        self._made: Counter[bytes] = Counter()
        self._declined: set[bytes] = set()
        self.idle = 0
        """Rounds in a row in which nothing could be run."""
        self.results: tuple[Message, ...] = ()
        """Of the last round, in the order of its calls: as far as it came."""

    async def run(self, calls: Sequence[ToolCall], budget: Budget) -> AsyncGenerator[LoopEvent, None]:
        """What happens. Calls of tools that somebody else runs are left alone."""
        ours = [call for call in calls if self._toolbox.is_answered_here(call)]
        self.results = ()
        refused: dict[int, ToolResult] = {}
        for number, call in enumerate(ours):
            why: str | None
            if number >= self._limits.calls_in_a_turn:
                why = f"more than {self._limits.calls_in_a_turn} calls at once: make this one later"
            else:
                with self._clock.stopped():
                    why = await self._reason_against(call)
            if why is not None:
                refused[number] = failed(call, why)
            if why == _NOBODY_TO_ASK:
                yield self._denied(call)
        to_run = {number: call for number, call in enumerate(ours) if number not in refused}
        self.idle = 0 if to_run or not ours else self.idle + 1
        for call in to_run.values():
            yield ToolStarted(call)
        longest = budget.longest_result(len(ours), self._limits.result_characters)
        slots = asyncio.Semaphore(max(1, self._limits.calls_at_once))
        running = {number: asyncio.create_task(self._result(call, slots, longest)) for number, call in to_run.items()}
        try:
            for number in range(len(ours)):
                result = refused.get(number) or await running[number]
                self.results = (*self.results, _message(result))
                yield ToolFinished(result)
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)

    async def _result(self, call: ToolCall, slots: asyncio.Semaphore, longest: int) -> ToolResult:
        async with slots:
            left = self._clock.left
            seconds = self._limits.call_seconds if left is None else min(left, self._limits.call_seconds)
            return await self._toolbox.run(call, seconds=seconds, longest=longest)

    async def _reason_against(self, call: ToolCall) -> str | None:
        """Why it isn't run, in words that the model can act upon."""
        if call.problem is not None:
            return call.problem
        if (entry := self._toolbox.entry(call)) is None:
            return f"there is no tool {call.name[:80]!r} any more"
        key = _key(call)
        if self._made[key] >= self._limits.repeats:
            return f"this very call was made {self._made[key]} times already: use what came of it, or do something else"
        if key in self._declined:
            return "the user didn't allow this call; don't try it again"
        decision = await self._permissions.decide(entry, call, self._toolbox.source(entry.source))
        if decision.may_run:
            self._made[key] += 1
            return None
        self._declined.add(key)
        return _NOBODY_TO_ASK if decision.reason == "nobody_to_ask" else decision.told

    def _denied(self, call: ToolCall) -> Notice:
        entry = self._toolbox.entry(call)
        path = entry.path if entry else call.name
        return Notice("call_denied", f"{path!r} isn't run, for nobody can be asked; --allow {path!r} allows it")


_NOBODY_TO_ASK = "the user has to allow this tool first, and can't be asked now"


def _key(call: ToolCall) -> bytes:
    try:
        return msgspec.json.encode((call.name, call.arguments), order="deterministic")
    except (TypeError, ValueError, RecursionError):
        return repr((call.name, call.arguments)).encode("utf-8", "replace")


def _message(result: ToolResult) -> Message:
    return Message(role="tool", content=result.content, images=result.images, call_id=result.call_id, name=result.name)
