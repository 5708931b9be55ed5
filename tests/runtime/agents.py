"""Plays an answer: a model that says what is written, tools that do what a test wants."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from callgate.runtime import (
    Agent,
    Answering,
    Fallback,
    LoopEvent,
    Outcome,
    Permissions,
    Session,
    Toolbox,
)
from callgate.settings import load_settings
from callgate.vocabulary import (
    AssistantDelta,
    BadStatus,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Message,
    ModelRef,
    Notice,
    Tool,
    ToolCall,
    ToolCallEvent,
    event_as_json,
)

Exchange = Sequence[Event | CallgateError]
Script = Callable[..., ModelRef]
ASKED = ChatRequest(model="", messages=(Message(role="user", content="Go on."),))


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A model that says just this."""
    made = 0

    def write(*exchanges: Exchange, at: float = 0) -> ModelRef:
        nonlocal made
        made += 1
        lines: list[object] = [{"callgate_recording": 1, "model": f"m{made}", "backend": "llamacpp"}]
        for exchange in exchanges:
            lines.append({"request": {}})
            lines += [_line(one, at) for one in exchange]
        path = tmp_path / f"model{made}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)) + "\n")
        return ModelRef("scripted", str(path))

    return write


def _line(one: Event | CallgateError, at: float) -> object:
    if not isinstance(one, CallgateError):
        return {"at": at, "event": event_as_json(one)}
    status = {"status": one.status} if isinstance(one, BadStatus) else {}
    return {"at": at, "error": {"type": type(one).__name__, "message": one.message, **status}}


def says(*texts: str) -> Exchange:
    return [*map(AssistantDelta, texts), Done("stop")]


def calls(*made: tuple[str, Mapping[str, Any]]) -> Exchange:
    events = [ToolCallEvent(ToolCall(f"c{number}", name, args)) for number, (name, args) in enumerate(made)]
    return [*events, Done("tool_calls")]


class Source:
    """Tools that do what a test wants; none is known to be harmless."""

    def __init__(self, *tools: str, name: str = "there", do: Callable[..., Any] | None = None) -> None:
        self.name = name
        self.called: list[str] = []
        self.failure: CallgateError | None = None
        self.listed = tools
        self._do = do

    async def tools(self) -> Sequence[Tool]:
        if self.failure:
            raise self.failure
        return [Tool(name) for name in self.listed]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:  # noqa: ARG002
        self.called.append(name)
        outcome = await self._do(name) if self._do else f"{name} was here"
        return outcome if isinstance(outcome, Outcome) else Outcome(outcome)

    def is_harmless(self, name: str) -> bool:  # noqa: ARG002
        return False

    async def close(self) -> None: ...


class Played:
    """An answer, with all that happened."""

    def __init__(self, answering: Answering, events: list[LoopEvent], requests: list[ChatRequest]) -> None:
        self.ended = answering.ended
        self.messages = answering.messages
        self.ref = answering.ref
        self.usage = answering.usage
        self.events = events
        self.requests = requests

    @property
    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    @property
    def notices(self) -> list[str]:
        return [event.kind for event in self.events if isinstance(event, Notice)]

    @property
    def results(self) -> list[str]:
        return [message.content for message in self.messages if message.role == "tool"]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, AssistantDelta))


async def play(ref: ModelRef, *given: Any, request: ChatRequest = ASKED, fallback: Any = (), **more: Any) -> Played:
    requests: list[ChatRequest] = []
    async with Session(load_settings()) as session:

        async def turn(ref: ModelRef, request: ChatRequest) -> AsyncGenerator[Event, None]:
            requests.append(request)
            async with aclosing(session.turn(ref, request)) as events:
                async for event in events:
                    yield event

        if not isinstance(fallback, Fallback):
            fallback = Fallback(fallback, settings=session.settings)
        agent = Agent(session, Toolbox(given), turn=turn, fallback=fallback, **more)
        answering = agent.answer(ref, request)
        async with aclosing(answering.events()) as events:
            return Played(answering, [event async for event in events], requests)


ALL = Permissions(allow=["*"])
