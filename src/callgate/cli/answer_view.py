"""How an answer is shown while it comes: as text for a person, as JSON lines for a program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

import msgspec

from callgate.backends import Loading
from callgate.cli.screen import Screen, print_json, printable, show_error
from callgate.runtime import error_as_json
from callgate.vocabulary import (
    AssistantDelta,
    CallgateError,
    Event,
    ModelRef,
    Notice,
    ThinkingDelta,
    ToolCallEvent,
    event_as_json,
)

QUIET_SECONDS = 1.0


class AnswerView(Protocol):
    def waited_for(self, events: AsyncGenerator[Event, None], ref: ModelRef) -> AsyncIterator[Event]:
        """The same events; whoever looks on is told if they take their time."""
        ...

    def loading(self, how_far: Loading) -> None: ...

    def show(self, event: Event) -> None: ...

    def failed(self, error: CallgateError) -> None: ...


class JsonView:
    """Events on standard output, one object a line; an error is the last of them."""

    async def waited_for(self, events: AsyncGenerator[Event, None], ref: ModelRef) -> AsyncIterator[Event]:  # noqa: ARG002
        async for event in events:
            yield event

    def loading(self, how_far: Loading) -> None:
        """Programs wait without being told."""

    def show(self, event: Event) -> None:
        print_json(event_as_json(event))

    def failed(self, error: CallgateError) -> None:
        print_json({"error": error_as_json(error)})


class TextView:
    """The answer on standard output; notices, thinking and errors on standard error."""

    def __init__(self) -> None:
        self._screen = Screen()
        self._aside = Screen(sys.stderr)
        self._in_line = False
        self._in_thought = False
        self._told_of_waiting = False

    async def waited_for(self, events: AsyncGenerator[Event, None], ref: ModelRef) -> AsyncIterator[Event]:
        waiting = asyncio.create_task(self._tell_of_waiting(ref))
        try:
            async for event in events:
                self._stop_waiting(waiting)
                yield event
        finally:
            self._stop_waiting(waiting)

    async def _tell_of_waiting(self, ref: ModelRef) -> None:
        seconds = 0
        while True:
            await asyncio.sleep(QUIET_SECONDS)
            seconds += 1
            self._tell(f"waiting for {printable(ref.name)} … {seconds} s")

    def loading(self, how_far: Loading) -> None:
        size = f"{how_far.bytes / 1e6:,.0f} MB"
        self._tell(f"loading {printable(how_far.name)} ({size}) … {how_far.seconds:.0f} s")

    def _tell(self, line: str) -> None:
        """On a line that is wiped when the answer comes."""
        if sys.stderr.isatty():
            self._told_of_waiting = True
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def _stop_waiting(self, waiting: asyncio.Task[None]) -> None:
        waiting.cancel()
        self.done_loading()

    def done_loading(self) -> None:
        if self._told_of_waiting:
            self._told_of_waiting = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def show(self, event: Event) -> None:
        if self._in_thought and not isinstance(event, ThinkingDelta):
            self._aside.line()
            self._in_thought = False
        match event:
            case AssistantDelta(text):
                print(harmless(text), end="", flush=True)
                self._in_line = not text.endswith("\n")
            case ThinkingDelta(text):
                print(self._aside.styled(harmless(text), "dim"), end="", file=sys.stderr, flush=True)
                self._in_thought = not text.endswith("\n")
            case ToolCallEvent(call):
                self._end_line()
                arguments = msgspec.json.encode(call.arguments).decode()
                self._screen.line(self._screen.styled(printable(f"→ {call.name}({arguments})"), "strong"))
            case Notice(_, message):
                self._aside.line(self._aside.styled(printable(f"note: {message}"), "doubt"))
            case _:
                self._end_line()

    def failed(self, error: CallgateError) -> None:
        self._end_line()
        show_error(error)

    def _end_line(self) -> None:
        if self._in_line:
            print(flush=True)
            self._in_line = False


def harmless(text: str) -> str:
    """`text` with its lines, but nothing else that a terminal would obey."""
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)
