"""One model to talk to, with tools: ask it, and calls are run until there is an answer; or stream a single turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self

import msgspec

from callgate.runtime.background import BackgroundLoop
from callgate.runtime.conversation import Given as GivenMessage
from callgate.runtime.conversation import read_messages
from callgate.runtime.session import Session
from callgate.runtime.toolbox import Given as GivenTool
from callgate.runtime.toolbox import Toolbox
from callgate.settings import Settings
from callgate.vocabulary import (
    AssistantDelta,
    ChatRequest,
    Event,
    Message,
    ModelRef,
    Notice,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
)
from callgate.vocabulary.messages import Think

MOST_TURNS = 8

Messages = str | Sequence[GivenMessage]
Tools = Iterable[GivenTool]


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a question."""

    text: str
    """The answer."""
    calls: tuple[ToolCall, ...] = ()
    """All that the model made on the way, in their order."""
    thinking: str = ""
    notices: tuple[Notice, ...] = ()
    usage: Usage | None = None
    """Of all turns together."""
    messages: tuple[Message, ...] = ()
    """The whole conversation, the question and the answer included: pass it on to go on."""


class AsyncModel:
    """A model, by any name that callgate knows. Belongs to one event loop."""

    def __init__(self, model: ModelRef | str, *, settings: Settings | None = None) -> None:
        """Raises: UsageError, if `model` can't be the name of one."""
        self.ref = ModelRef.parse(model) if isinstance(model, str) else model
        self._session = Session(settings)

    async def ask(
        self,
        question: Messages,
        *,
        tools: Tools = (),
        tool_choice: str | None = None,
        parallel_tool_calls: bool | None = None,
        schema: Mapping[str, Any] | None = None,
        think: Think | None = None,
        max_tokens: int | None = None,
        max_turns: int = MOST_TURNS,
        **options: Any,
    ) -> Turn:
        """Asks, runs the functions that the model calls, gives it what came of them, and so on until it answers.

        A call of a tool that isn't a function here ends it: the caller finds it in `calls`. `tool_choice` holds for the
        first turn; `options` are for sampling, as `temperature`.

        Raises: UsageError, if a tool or a message is no good; as `Session.turn` does.
        """
        box = Toolbox(tools)
        request = ChatRequest(
            model="",
            messages=read_messages(question),
            tools=box.tools,
            tool_choice=tool_choice,
            parallel_tool_calls=parallel_tool_calls,
            schema=schema,
            think=think,
            max_tokens=max_tokens,
            options=options,
        )
        calls: list[ToolCall] = []
        notices: dict[Notice, None] = {}
        used: list[Usage] = []
        while True:
            said = _Said()
            async with aclosing(self._session.turn(self.ref, request)) as events:
                async for event in events:
                    said.hear(event)
            calls += said.calls
            notices.update(dict.fromkeys(said.notices))
            used += said.used
            request = msgspec.structs.replace(request, messages=(*request.messages, said.message()), tool_choice=None)
            if not said.calls or not all(box.runs(call) for call in said.calls):
                break
            results = await asyncio.gather(*(box.run(call) for call in said.calls))
            request = msgspec.structs.replace(request, messages=(*request.messages, *results))
            max_turns -= 1
            if max_turns <= 0:
                notices[Notice("turns_exhausted", "the model went on calling tools, and gave no answer")] = None
                break
        return Turn(
            text=said.text,
            calls=tuple(calls),
            thinking=said.thinking,
            notices=tuple(notices),
            usage=_summed(used),
            messages=request.messages,
        )

    async def stream(
        self,
        messages: Messages,
        *,
        tools: Tools = (),
        tool_choice: str | None = None,
        parallel_tool_calls: bool | None = None,
        schema: Mapping[str, Any] | None = None,
        think: Think | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> AsyncGenerator[Event, None]:
        """The events of one turn; calls are told of, and not run.

        Raises: UsageError, if a tool or a message is no good; as `Session.turn` does.
        """
        request = ChatRequest(
            model="",
            messages=read_messages(messages),
            tools=Toolbox(tools).tools,
            tool_choice=tool_choice,
            parallel_tool_calls=parallel_tool_calls,
            schema=schema,
            think=think,
            max_tokens=max_tokens,
            options=options,
        )
        async with aclosing(self._session.turn(self.ref, request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


class Model:
    """`AsyncModel` for programs without an event loop."""

    def __init__(self, model: ModelRef | str, *, settings: Settings | None = None) -> None:
        """Raises: UsageError, if `model` can't be the name of one."""
        self._model = AsyncModel(model, settings=settings)
        self._loop = BackgroundLoop("model", self._model.close)

    @property
    def ref(self) -> ModelRef:
        return self._model.ref

    def ask(self, question: Messages, *, tools: Tools = (), **wishes: Any) -> Turn:
        """See `AsyncModel.ask`, which has the same parameters."""
        return self._loop.result(self._model.ask(question, tools=tools, **wishes))

    def stream(self, messages: Messages, *, tools: Tools = (), **wishes: Any) -> Iterator[Event]:
        """See `AsyncModel.stream`, which has the same parameters. Whoever stops listening stops the model."""
        events = self._model.stream(messages, tools=tools, **wishes)

        async def following() -> Event | None:
            return await anext(events, None)

        try:
            while (event := self._loop.result(following())) is not None:
                yield event
        finally:
            self._loop.result(events.aclose())

    def close(self) -> None:
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Said:
    """What a model said in one turn."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self.calls: list[ToolCall] = []
        self.notices: list[Notice] = []
        self.used: list[Usage] = []

    def hear(self, event: Event) -> None:
        match event:
            case AssistantDelta(text):
                self._texts.append(text)
            case ThinkingDelta(text):
                self._thoughts.append(text)
            case ToolCallEvent(call):
                self.calls.append(call)
            case Notice():
                self.notices.append(event)
            case Usage():
                self.used.append(event)

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        return "".join(self._thoughts)

    def message(self) -> Message:
        return Message(role="assistant", content=self.text, thinking=self.thinking or None, calls=tuple(self.calls))


def _summed(used: Sequence[Usage]) -> Usage | None:
    if not used:
        return None
    prompts = [usage.prompt_tokens for usage in used if usage.prompt_tokens is not None]
    answers = [usage.completion_tokens for usage in used if usage.completion_tokens is not None]
    return Usage(sum(prompts) if prompts else None, sum(answers) if answers else None)
