"""The tour, step by step: each asks a real model, runs its calls, and looks whether what came of them is right."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from callgate.gate import Mode, Plan
from callgate.runtime import Agent, FunctionTools, Session, Toolbox, ToolFinished, built_in_tools
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
_SAMPLING = {"temperature": 0, "seed": 1}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    tells: str
    """What there is to see."""
    model: str
    question: str | None = None
    """`None`: the model goes on with what the one before it left."""
    mode: Mode = "native"
    """How tools have to reach it."""
    tool: str | None = None
    """What has to be called."""
    is_right: Callable[[str], bool] = bool
    """Of what the tool said."""
    goes_on: bool = False
    """In the conversation of the step before."""
    is_made_to_call: bool = False
    """It has to call the one tool that it gets, and another model answers."""


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
        if wanted and wanted not in (ran.call.name for ran in self.ran):
            return f"{wanted} was not called"
        for ran in self.ran:
            if ran.result is None or ran.result.is_error:
                return f"the call of {ran.call.name} could not be run"
            if wanted and not (ran.call.name == wanted and self.step.is_right(ran.result.content)):
                return f"the call of {ran.call.name} gave something else than was asked for"
        return None if self.answer or self.step.is_made_to_call else "there was no answer"


class Tour:
    """Goes through the steps with one session. `folder` is a place for the file that is read."""

    def __init__(self, session: Session, folder: str) -> None:
        self._session = session
        self._told: tuple[Message, ...] = ()
        with open(os.path.join(folder, FILE), "w", encoding="utf-8") as file:
            file.write(f"{WELCOME}\n")
        self._own = Toolbox([built_in_tools(folder)])
        self._clock = Toolbox([FunctionTools([current_time], name="clock", harmless=True)])

    async def take(self, step: Step) -> Taken:
        """Raises: as `Session.turn` does."""
        asked = () if step.question is None else (Message(role="user", content=step.question),)
        messages = (*(self._told if step.goes_on else ()), *asked)
        plans: list[Plan] = []
        calls: list[ToolCall] = []
        results: dict[str, ToolResult] = {}
        notices: list[Notice] = []

        def turn(ref: ModelRef, request: ChatRequest) -> AsyncGenerator[Event, None]:
            return self._session.turn(ref, request, plans.append)

        agent = Agent(self._session, self._clock if step.is_made_to_call else self._own, turn=turn)
        request = ChatRequest(
            model="",
            messages=messages,
            tool_choice="required" if step.is_made_to_call else None,
            max_tokens=LONGEST_ANSWER,
            options=_SAMPLING,
        )
        started = time.monotonic()
        answering = agent.answer(ModelRef.parse(step.model), request)
        async with aclosing(answering.events()) as events:
            async for event in events:
                match event:
                    case ToolCallEvent(call):
                        calls.append(call)
                    case ToolFinished(result):
                        results[result.call_id] = result
                        if step.is_made_to_call:
                            break
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


def current_time(timezone: Literal["UTC"]) -> str:
    """Tell the current date and time.

    Args:
        timezone: Its name.
    """
    return f"{datetime.now(UTC).isoformat(timespec='seconds')} ({timezone})"


def is_now(told: str) -> bool:
    """Whether it starts with the time that it is."""
    try:
        when = datetime.fromisoformat(told.split(maxsplit=1)[0])
    except (IndexError, ValueError):
        return False
    return when.tzinfo is not None and abs(datetime.now(UTC) - when) < SLOWEST_CLOCK


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
        tells="tiny-plain's template has no tools. The gate describes one in the prompt, and holds the model to it.",
        model="tiny-plain",
        question="What time is it in UTC?",
        mode="emulated",
        tool="current_time",
        is_right=is_now,
        goes_on=True,
        is_made_to_call=True,
    ),
    Step(
        name="back",
        title="Back to the first, in mid-turn",
        tells="The call that the other one made is rewritten as tiny knows calls, and it answers with the result.",
        model="tiny",
        goes_on=True,
    ),
    Step(
        name="again",
        title="And on it goes",
        tells="The same conversation, with all that was said.",
        model="tiny",
        question="What is 6 * 7?",
        tool="calculate",
        is_right=lambda told: told == str(6 * 7),
        goes_on=True,
    ),
)
