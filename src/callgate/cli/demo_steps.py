"""The tour, step by step: each asks a real model, runs its calls, and looks whether what came of them is right."""

from __future__ import annotations

import os
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import msgspec

from callgate.gate import Mode, Plan
from callgate.runtime import Agent, Session, Toolbox, ToolFinished, built_in_tools
from callgate.vocabulary import (
    ChatRequest,
    Event,
    Message,
    ModelRef,
    Notice,
    ToolCall,
    ToolCallEvent,
    ToolResult,
)

FILE = "welcome.txt"
WELCOME = "The gate is open."
"""What the file says that a tool reads; no model could know it."""
LONGEST_ANSWER = 200
"""Tokens."""
SLOWEST_CLOCK = timedelta(minutes=2)
"""Between the question for the time and the look at the answer."""
_AROUND = " .\n"
_PLAIN_WORDS = re.compile(r"[A-Za-z' ]{0,40}:?\s*")
_SAMPLING = {"temperature": 0, "seed": 1}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    tells: str
    """What there is to see."""
    model: str
    question: str
    mode: Mode = "native"
    """How tools have to reach it."""
    tool: str
    """What has to be called."""
    is_right: Callable[[str], bool]
    """Of what the tool said."""
    goes_on: bool = False
    """In the conversation of the step before."""


class Ran(msgspec.Struct, frozen=True):
    """A call, and what came of it."""

    call: ToolCall
    result: ToolResult | None


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was taken."""

    step: Step
    mode: Mode
    reason: str
    ran: tuple[Ran, ...]
    answer: str
    notices: tuple[Notice, ...]
    seconds: float

    @property
    def problem(self) -> str | None:
        """What isn't as it should be."""
        wanted = self.step.tool
        if self.mode != self.step.mode:
            return f"tools should be {self.step.mode} here, and were {self.mode}"
        if wanted not in (ran.call.name for ran in self.ran):
            return f"{wanted} was not called"
        for ran in self.ran:
            if ran.result is None or ran.result.is_error:
                return f"the call of {ran.call.name} could not be run"
            if not (ran.call.name == wanted and self.step.is_right(ran.result.content)):
                return f"the call of {ran.call.name} gave something else than was asked for"
        if not self.answer:
            return "there was no answer"
        return None if is_told_by(self.answer, self.ran) else "the answer isn't what the tool said"


def is_told_by(answer: str, ran: Sequence[Ran]) -> bool:
    """Whether it ends with the last result, with at most a few plain words before it, and nothing at all behind."""
    result = (ran[-1].result.content if ran[-1].result else "").strip(_AROUND)
    before, found, behind = answer.rpartition(result)
    return bool(found) and not behind.strip(_AROUND) and _PLAIN_WORDS.fullmatch(before) is not None


class Tour:
    """Goes through the steps with one session. `folder` is a place for the file that is read."""

    def __init__(self, session: Session, folder: str) -> None:
        self._session = session
        self._told: tuple[Message, ...] = ()
        with open(os.path.join(folder, FILE), "w", encoding="utf-8") as file:
            file.write(f"{WELCOME}\n")
        self._tools = Toolbox([built_in_tools(folder)])

    async def take(self, step: Step) -> Taken:
        """Raises: as `Session.turn` does."""
        messages = (*(self._told if step.goes_on else ()), Message(role="user", content=step.question))
        plans: list[Plan] = []
        calls: list[ToolCall] = []
        results: dict[str, ToolResult] = {}
        notices: list[Notice] = []

        def turn(ref: ModelRef, request: ChatRequest) -> AsyncGenerator[Event, None]:
            return self._session.turn(ref, request, plans.append)

        agent = Agent(self._session, self._tools, turn=turn)
        request = ChatRequest(model="", messages=messages, max_tokens=LONGEST_ANSWER, options=_SAMPLING)
        started = time.monotonic()
        answering = agent.answer(ModelRef.parse(step.model), request)
        async with aclosing(answering.events()) as events:
            async for event in events:
                match event:
                    case ToolCallEvent(call):
                        calls.append(call)
                    case ToolFinished(result):
                        results[result.call_id] = result
                    case Notice():
                        notices.append(event)
        self._told = (*messages, *answering.messages)
        last = self._told[-1]
        return Taken(
            step=step,
            mode=plans[0].mode if plans else "off",
            reason=plans[0].reason if plans else "",
            ran=tuple(Ran(call, results.get(call.id)) for call in calls),
            answer=last.content.strip() if last.role == "assistant" else "",
            notices=tuple(dict.fromkeys(notices)),
            seconds=time.monotonic() - started,
        )


def is_now(told: str) -> bool:
    """Whether it is the time that it is in UTC, as our clock says it."""
    try:
        when = datetime.strptime(told, "%A %Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)
    except ValueError:
        return False
    return abs(datetime.now(UTC) - when) < SLOWEST_CLOCK


STEPS = (
    Step(
        name="calculator",
        title="A model calls a tool",
        tells="tiny is a very small model that came with callgate; llama.cpp runs it here. It is offered five tools.",
        model="tiny",
        question="What is 17 * 23?",
        tool="calculate",
        is_right=lambda told: told == str(17 * 23),
    ),
    Step(
        name="clock",
        title="No model knows the time",
        tells="The same five tools, and it has to pick another.",
        model="tiny",
        question="What time is it in UTC?",
        tool="current_time",
        is_right=is_now,
    ),
    Step(
        name="files",
        title="It reads a file",
        tells="It sees one folder, and nothing else of your files.",
        model="tiny",
        question=f"Read the file {FILE}.",
        tool="read_file",
        is_right=lambda told: told.strip() == WELCOME,
    ),
    Step(
        name="swap",
        title="Another model goes on, one without tools",
        tells="tiny-plain's template has no tools. The gate describes all five in the prompt, and reads its text.",
        model="tiny-plain",
        question="What is 19 * 21?",
        mode="emulated",
        tool="calculate",
        is_right=lambda told: told == str(19 * 21),
        goes_on=True,
    ),
    Step(
        name="back",
        title="Back to the first",
        tells="The same conversation: the call that the other one made is rewritten as tiny knows calls.",
        model="tiny",
        question="What is 6 * 7?",
        tool="calculate",
        is_right=lambda told: told == str(6 * 7),
        goes_on=True,
    ),
)
