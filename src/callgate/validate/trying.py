"""One trial: a case is put to the model as any program would, and each of its turns judged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import msgspec

from callgate.runtime import read_messages
from callgate.tools import new_call_id
from callgate.validate.case_records import Expected, KnownCase, Step
from callgate.validate.exchanges import exchange_as_json
from callgate.validate.filling import Filled, as_written, filled
from callgate.validate.heard import Fault, Heard
from callgate.validate.judging import expected_as_json, is_expected, judge
from callgate.validate.moded_session import ModedSession, NotThisWay
from callgate.validate.records import Outcome, Trial, label_of
from callgate.validate.timing import TurnTimes
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
from callgate.wire import overhearing

PATIENCE_SECONDS = 300.0
"""For one turn."""
TIMEOUT = "timeout"
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
            fault = Fault(TIMEOUT, f"it took longer than {PATIENCE_SECONDS:g} s")
        except BackendError as error:
            if took_too_long(error):
                fault = Fault(TIMEOUT, error.message)
            elif is_no_trial(error):
                raise
            else:
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
            writing_ms=round(attempt.writing * 1000, 1) if attempt.tokens else None,
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


def took_too_long(error: BaseException | None) -> bool:
    """Whether a server was there, and silent: such a question may be too much for the model, and the next one not."""
    if not isinstance(error, Unreachable):
        return False
    causes: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return any(isinstance(each, TimeoutError) for each in causes)


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
        self.writing = 0.0
        self.tokens: int | None = None
        self._turns = 0

    async def run(self) -> Fault | None:
        """Raises: NotThisWay, TimeoutError, BackendError."""
        heard = await self._turn()
        expect = self._case.expect
        fault = self._judge(expect, heard)
        for step in self._case.then:
            if fault:
                return fault
            for _ in range(step.repeats + 1):
                self._give(heard, step, expect)
                heard = await self._turn()
                if not heard.calls or step.expect.has_calls:
                    break
            expect = step.expect
            fault = self._judge(expect, heard, after_result=True)
        return fault

    def _judge(self, expect: Expected, heard: Heard, *, after_result: bool = False) -> Fault | None:
        self.got = heard.as_json()
        strict = self._session.mode == "native"
        if self._known.own_judge:
            return self._known.own_judge(heard, strict)
        self.expected = expected_as_json(expect)
        given_before = after_result or any(message.role == "tool" for message in self._request.messages)
        return judge(expect, heard, self._known.tools, strict=strict, after_result=given_before)

    def _give(self, heard: Heard, step: Step, expect: Expected) -> None:
        results = tuple(
            Message(role="tool", content=self._result(call, step, expect), call_id=call.id, name=call.name)
            for call in heard.calls
        )
        said = Message(role="assistant", content=heard.text, calls=heard.calls)
        # What had to be called was called: from now on the model is free to answer.
        self._request = msgspec.structs.replace(
            self._request, messages=(*self._request.messages, said, *results), tool_choice=None
        )

    def _result(self, call: ToolCall, step: Step, expect: Expected) -> str:
        given = step.results.get(call.name, "done")
        if isinstance(given, str):
            return given
        tools = {tool.name: tool for tool in self._known.tools}
        of_this_tool = [each for each in expect.calls or () if call.name in each.names]
        fitting = (place for place, each in enumerate(of_this_tool) if is_expected(each, call, tools))
        return given[min(next(fitting, 0), len(given) - 1)]

    async def _turn(self) -> Heard:
        texts: list[str] = []
        calls: list[ToolCall] = []
        was_cut = False
        tokens: int | None = None
        request = self._request
        times = TurnTimes(streams=request.stream)
        with overhearing() as exchanges:
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
                                case Usage(_, int(written)):
                                    tokens = (tokens or 0) + written
                                case Done(reason):
                                    was_cut = reason == "length"
                            if isinstance(event, AssistantDelta | ThinkingDelta):
                                times.hear()
            finally:
                self._count(times, tokens)
                self._session.exchange = exchange_as_json(exchanges, self._session.sent, "".join(texts))
        heard = Heard(calls=tuple(calls), text="".join(texts), pieces=len(texts), was_cut=was_cut)
        self._session.tell_of(heard)
        return heard

    def _count(self, times: TurnTimes, tokens: int | None) -> None:
        seconds = times.so_far
        self.seconds += seconds
        self._turns += 1
        if self._turns == 1:
            self.first = times.first(seconds, tokens)
        if tokens is not None:
            self.tokens = (self.tokens or 0) + tokens
            self.writing += times.writing(seconds, tokens)


def _opening(case: Filled) -> tuple[Message, ...]:
    system = (Message(role="system", content=case.system),) if case.system else ()
    return (*system, *read_messages(case.history), Message(role="user", content=case.question))
