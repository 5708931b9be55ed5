"""A chat without a screen: what it shows is kept, and what it asks is answered from a list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from callgate.backends import Loading
from callgate.chat.chatting import Chat
from callgate.chat.items import Shown
from callgate.chat.options import ChatOptions
from callgate.chat.running import converse
from callgate.chat.views import Ask, Kind, Status
from callgate.runtime import LoopEvent, ModelReport, ToolFinished
from callgate.settings import Settings, load_settings
from callgate.vocabulary import AssistantDelta, CallgateError, Done

PATIENCE_SECONDS = 60.0


class Listener:
    goes_line_by_line = False

    def __init__(self, *answers: str | None, can_ask: bool = True) -> None:
        self.can_ask = can_ask
        self.answers = list(answers)
        self.asked: list[Ask] = []
        self.told: list[tuple[Kind, str]] = []
        self.texts: list[tuple[str, str, Mapping[str, Any]]] = []
        self.events: list[LoopEvent] = []
        self.errors: list[CallgateError] = []
        self.history: list[Shown] = []
        self.last_status: Status | None = None
        self.stops = 0
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()
        self._news = asyncio.Event()

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self._typed.get()) is not None:
            yield line
            self._typed.task_done()

    def type(self, line: str | None) -> None:
        self._typed.put_nowait(line)

    def tell(self, text: str, kind: Kind = "note", data: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        self.told.append((kind, text))
        self._news.set()

    def show_text(self, text: str, name: str, data: Mapping[str, Any]) -> None:
        self.texts.append((name, text, data))
        self._news.set()

    def show_history(self, items: Sequence[Shown]) -> None:
        self.history += items

    def begin(self, model: str) -> None: ...

    def show(self, event: LoopEvent) -> None:
        self.events.append(event)
        self._news.set()

    def end(self, *, stopped: bool = False) -> None:
        self.stops += stopped

    def loading(self, how_far: Loading) -> None: ...

    def failed(self, error: CallgateError) -> None:
        self.errors.append(error)
        self._news.set()

    def status(self, status: Status) -> None:
        self.last_status = status
        self._news.set()

    async def ask(self, ask: Ask) -> str | None:
        self.asked.append(ask)
        return self.answers.pop(0) if self.answers else None

    async def close(self) -> None: ...

    # --- For tests

    async def said_all(self) -> None:
        """What was typed was taken."""
        await self._typed.join()

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self._news.clear()
            await self._news.wait()

    @property
    def answer(self) -> str:
        """All that models said."""
        return "".join(event.text for event in self.events if isinstance(event, AssistantDelta))

    @property
    def results(self) -> list[str]:
        return [event.result.content for event in self.events if isinstance(event, ToolFinished)]

    @property
    def turns(self) -> int:
        return sum(isinstance(event, Done) for event in self.events)

    def lines_of(self, *kinds: Kind) -> list[str]:
        return [text for kind, text in self.told if kind in kinds]


class Driver:
    def __init__(self, view: Listener, chat: Chat) -> None:
        self.view = view
        self.chat = chat

    async def say(self, *lines: str) -> None:
        """Each, until it is done with."""
        for line in lines:
            await self.idle()
            self.view.type(line)
            await self.idle()

    async def idle(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.view.said_all()
            await self.chat.settled()

    async def until(self, condition: Callable[[], object]) -> None:
        """`condition` is looked at whenever something was shown."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.view.until(condition)


def plainly(report: ModelReport, *, why: bool) -> str:
    return f"{report.model}: {report.tools}{' because' if why else ''}"


@asynccontextmanager
async def chatting(
    model: str | None = None, *, view: Listener | None = None, settings: Settings | None = None, **more: Any
) -> AsyncIterator[Driver]:
    """A chat that has said its first line."""
    view = view or Listener()
    started: asyncio.Future[Chat] = asyncio.get_running_loop().create_future()
    options = ChatOptions(model=model, **more)
    used = settings or load_settings({"ollama.host": "http://127.0.0.1:1", "detect.refresh": "off"})
    running = asyncio.create_task(converse(view, options, used, plainly, started=started.set_result))
    running.add_done_callback(
        lambda done: None if started.done() else started.set_exception(done.exception() or EOFError())
    )
    driver = Driver(view, await started)
    try:
        await driver.until(lambda: hasattr(driver.chat, "judgement"))
        yield driver
    finally:
        view.type(None)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running
