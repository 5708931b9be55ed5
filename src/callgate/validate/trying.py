"""One trial: a case is put to the model as any program would, and each of its turns judged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import msgspec

from callgate.runtime import read_messages
from callgate.tools import new_call_id
from callgate.validate.case_records import Expected, KnownCase, Step
from callgate.validate.filling import Filled, as_written, filled
from callgate.validate.heard import Fault, Heard
from callgate.validate.judging import expected_as_json, judge
from callgate.validate.moded_session import ModedSession, NotThisWay
from callgate.validate.records import Outcome, Trial, label_of
from callgate.vocabulary import (
    AssistantDelta,
    BackendError,
    BadSchema,
    BadStatus,
    CannotChat,
    ChatRequest,
    Done,
    Message,
    ModelRef,
    NotFound,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Unreachable,
    Usage,
)

PATIENCE_SECONDS = 300.0
"""For one turn."""
NOT_OURS_TO_JUDGE = (401, 403, 404, 429)
"""What a server says whatever it is asked: no trial of the model's."""


class Trying:
    """Trials of one model in one session."""

    def __init__(
        self,
        session: ModedSession,
        ref: ModelRef,
        *,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
        more_tokens: int = 1,
    ) -> None:
        """`more_tokens`: as many times as a case gives may its turns have; models that think need them."""
        self._session = session
        self._ref = ref
        self._seed = seed
        self._options = dict(options or {})
        self._more_tokens = more_tokens

    async def trial(self, known: KnownCase, number: int) -> Trial:
        """In the mode of the session.

        Raises: what isn't the model's fault: Unreachable, NotFound, a key that isn't accepted …
        """
        case = as_written(known.case) if known.own_judge else filled(known.case, number, self._seed)
        attempt = _Attempt(self._session, self._ref, known, case, self._request(known, case, number))
        outcome: Outcome = "failed"
        try:
            fault = await attempt.run()
            outcome = "failed" if fault else "passed"
        except NotThisWay as no:
            fault = Fault("not-this-way", no.why)
            outcome = "unsupported" if no.is_known else "failed"
        except BadSchema as error:
            fault, outcome = Fault("error:BadSchema", error.message), "unsupported"
        except TimeoutError:
            fault = Fault("timeout", f"it took longer than {PATIENCE_SECONDS:g} s")
        except BackendError as error:
            if is_no_trial(error):
                raise
            fault = Fault(f"error:{type(error).__name__}", error.message)
        return Trial(
            model=label_of(self._ref),
            mode=self._session.mode or "off",
            case=known.case.name,
            check=known.case.check,
            trial=number,
            outcome=outcome,
            expected=attempt.expected,
            got=attempt.got,
            ms=round(attempt.seconds * 1000, 1),
            reason=fault.reason if fault else None,
            kind=fault.kind if fault else None,
            tokens=attempt.tokens,
            first_token_ms=None if attempt.first is None else round(attempt.first * 1000, 1),
        )

    def _request(self, known: KnownCase, case: Filled, number: int) -> ChatRequest:
        given = known.case
        return ChatRequest(
            model=self._ref.name,
            messages=_opening(case),
            tools=known.tools,
            tool_choice=given.tool_choice,
            schema=given.schema,
            max_tokens=given.max_tokens * self._more_tokens,
            options={"temperature": 0, "seed": self._seed + number, **self._options},
            stream=given.stream,
        )


def is_no_trial(error: BackendError) -> bool:
    """Whether it says nothing of the model: nobody answers, or nobody lets us in."""
    if isinstance(error, BadStatus):
        return error.status in NOT_OURS_TO_JUDGE
    return isinstance(error, Unreachable | NotFound | CannotChat)


class _Attempt:
    """What happens in one trial."""

    def __init__(
        self, session: ModedSession, ref: ModelRef, known: KnownCase, case: Filled, request: ChatRequest
    ) -> None:
        self._session = session
        self._ref = ref
        self._known = known
        self._case = case
        self._request = request
        self.expected: Any = known.own_expected if known.own_judge else expected_as_json(case.expect)
        self.got: Any = None
        self.seconds = 0.0
        self.first: float | None = None
        self.tokens: int | None = None

    async def run(self) -> Fault | None:
        """Raises: NotThisWay, TimeoutError, BackendError."""
        heard = await self._turn()
        fault = self._judge(self._case.expect, heard)
        for step in self._case.then:
            if fault:
                return fault
            for _ in range(step.repeats + 1):
                self._give(heard, step)
                heard = await self._turn()
                if not heard.calls or step.expect.calls:
                    break
            fault = self._judge(step.expect, heard, after_result=True)
        return fault

    def _judge(self, expect: Expected, heard: Heard, *, after_result: bool = False) -> Fault | None:
        self.got = heard.as_json()
        strict = self._session.mode == "native"
        if self._known.own_judge:
            return self._known.own_judge(heard, strict)
        self.expected = expected_as_json(expect)
        given_before = after_result or any(message.role == "tool" for message in self._request.messages)
        return judge(expect, heard, self._known.tools, strict=strict, after_result=given_before)

    def _give(self, heard: Heard, step: Step) -> None:
        results = tuple(
            Message(role="tool", content=step.results.get(call.name, "done"), call_id=call.id, name=call.name)
            for call in heard.calls
        )
        said = Message(role="assistant", content=heard.text, calls=heard.calls)
        # What had to be called was called: from now on the model is free to answer.
        self._request = msgspec.structs.replace(
            self._request, messages=(*self._request.messages, said, *results), tool_choice=None
        )

    async def _turn(self) -> Heard:
        began = time.perf_counter()
        texts: list[str] = []
        calls: list[ToolCall] = []
        was_cut = False
        request = self._request
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                way = self._session.turn(self._ref, request, lambda plan: self._session.require_way(plan, request))
                async with aclosing(way) as events:
                    async for event in events:
                        match event:
                            case AssistantDelta(text):
                                texts.append(text)
                            case ToolCallEvent(call):
                                calls.append(call if call.id else msgspec.structs.replace(call, id=new_call_id()))
                            case Usage(_, int(tokens)):
                                self.tokens = (self.tokens or 0) + tokens
                            case Done(reason):
                                was_cut = reason == "length"
                        if self.first is None and isinstance(event, AssistantDelta | ThinkingDelta | ToolCallEvent):
                            self.first = time.perf_counter() - began
        finally:
            self.seconds += time.perf_counter() - began
        heard = Heard(calls=tuple(calls), text="".join(texts), pieces=len(texts), was_cut=was_cut)
        self._session.tell_of(heard)
        return heard


def _opening(case: Filled) -> tuple[Message, ...]:
    system = (Message(role="system", content=case.system),) if case.system else ()
    return (*system, *read_messages(case.history), Message(role="user", content=case.question))
