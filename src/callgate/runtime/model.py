"""One model to talk to, with tools: ask it, and calls are run until there is an answer; or stream a single turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self

import msgspec

from callgate.runtime.background import BackgroundLoop
from callgate.runtime.conversation import Given as GivenMessage
from callgate.runtime.conversation import read_messages
from callgate.runtime.fallback import Fallback
from callgate.runtime.limits import Limits
from callgate.runtime.loop import Agent
from callgate.runtime.loop_events import ModelChanged, ToolFinished, ToolStarted
from callgate.runtime.permissions import Permissions
from callgate.runtime.said import Said
from callgate.runtime.session import Session
from callgate.runtime.toolbox import Given as GivenTool
from callgate.runtime.toolbox import Toolbox
from callgate.settings import Settings
from callgate.vocabulary import ChatRequest, Event, Message, ModelRef, Notice, Think, ToolCall, Usage

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
    ref: ModelRef | None = None
    """The model that answered."""


class AsyncModel:
    """A model, by any name that callgate knows. Belongs to one event loop."""

    def __init__(self, model: ModelRef | str, *, settings: Settings | None = None) -> None:
        """Raises: UsageError, if `model` can't be the name of one."""
        self.ref = _ref(model)
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
        max_turns: int | None = None,
        limits: Limits | None = None,
        permissions: Permissions | None = None,
        fallback: Sequence[ModelRef | str] = (),
        **options: Any,
    ) -> Turn:
        """Asks, runs the functions that the model calls, gives it what came of them, and so on until it answers.

        A tool is a function, a source of tools such as an MCP server, or just a description: a call of that one ends
        it, and the caller finds it in `calls`. Functions are run without asking; what a source has and doesn't know to
        be harmless needs `permissions`. `tool_choice` holds for the first turn; `options` are for sampling, as
        `temperature`. The models of `fallback` take over, in their order, if this one fails.

        Raises: UsageError, if a tool or a message is no good; as `Session.turn` does.
        """
        limits = limits or Limits.of(self._session.settings)
        request = ChatRequest(
            model="",
            messages=read_messages(question),
            tool_choice=tool_choice,
            parallel_tool_calls=parallel_tool_calls,
            schema=schema,
            think=think,
            max_tokens=max_tokens,
            options=options,
        )
        agent = Agent(
            self._session,
            Toolbox(tools),
            permissions=permissions,
            limits=limits if max_turns is None else msgspec.structs.replace(limits, turns=max_turns),
            fallback=Fallback(map(_ref, fallback), settings=self._session.settings, agreed=True),
        )
        answering = agent.answer(self.ref, request)
        said = Said()
        async with aclosing(answering.events()) as events:
            async for event in events:
                match event:
                    case ToolStarted() | ToolFinished():
                        pass
                    case ModelChanged(ref, why):
                        said.hear(Notice("model_changed", f"{ref.name!r} takes over: {why}"))
                    case _:
                        said.hear(event)
        last = answering.messages[-1] if answering.messages else Message(role="assistant")
        return Turn(
            text=last.content if last.role == "assistant" else "",
            calls=tuple(said.calls),
            thinking=last.thinking or "",
            notices=tuple(dict.fromkeys(said.notices)),
            usage=answering.usage,
            messages=(*request.messages, *answering.messages),
            ref=answering.ref,
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
        box = Toolbox(tools)
        for failure in await box.refresh():
            raise failure.error
        request = ChatRequest(
            model="",
            messages=read_messages(messages),
            tools=box.tools,
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


def _ref(model: ModelRef | str) -> ModelRef:
    return ModelRef.parse(model) if isinstance(model, str) else model
