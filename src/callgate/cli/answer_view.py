"""How an answer is shown while it comes: as text for a person, as JSON lines for a program."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

import msgspec

from callgate.backends import Loading
from callgate.chat import cut
from callgate.cli.screen import Screen, print_json, printable, show_error
from callgate.runtime import (
    LoopEvent,
    ModelChanged,
    ToolFinished,
    ToolStarted,
    error_as_json,
    loop_event_as_json,
    shown_arguments,
)
from callgate.vocabulary import (
    AssistantDelta,
    CallgateError,
    Done,
    ModelRef,
    Notice,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    ToolResult,
)

QUIET_SECONDS = 1.0
LONGEST_ASIDE = 300
"""Characters of a call or a result that are shown on the way."""


class AnswerView(Protocol):
    def waited_for(self, events: AsyncGenerator[LoopEvent, None], ref: ModelRef) -> AsyncIterator[LoopEvent]:
        """The same events; whoever looks on is told if they take their time."""
        ...

    def loading(self, how_far: Loading) -> None: ...

    def show(self, event: LoopEvent) -> None: ...

    def failed(self, error: CallgateError) -> None: ...

    def make_room(self) -> None:
        """For somebody else who writes a line on standard error."""
        ...


class JsonView:
    """Events on standard output, one object a line; an error is the last of them."""

    async def waited_for(self, events: AsyncGenerator[LoopEvent, None], ref: ModelRef) -> AsyncIterator[LoopEvent]:  # noqa: ARG002
        async for event in events:
            yield event

    def loading(self, how_far: Loading) -> None:
        """Programs wait without being told."""

    def show(self, event: LoopEvent) -> None:
        print_json(loop_event_as_json(event))

    def failed(self, error: CallgateError) -> None:
        print_json({"error": error_as_json(error)})

    def make_room(self) -> None:
        """Its lines are whole."""


class TextView:
    """The answer on standard output; calls that are run, notices, thinking and errors on standard error.

    Calls that somebody else has to run are the answer.
    """

    def __init__(self) -> None:
        self._screen = Screen()
        self._aside = Screen(sys.stderr)
        self._in_line = False
        self._in_thought = False
        self._told_of_waiting = False
        self._awaited = ""
        self._since = 0.0
        self._model = ""
        self._calls: dict[str, ToolCall] = {}
        """Those that were made, and nothing is heard of yet."""

    async def waited_for(self, events: AsyncGenerator[LoopEvent, None], ref: ModelRef) -> AsyncIterator[LoopEvent]:
        self._model = ref.name
        self._wait_for(self._model)
        telling = asyncio.create_task(self._tell_of_waiting())
        try:
            async for event in events:
                self._wait_for("")
                yield event
        finally:
            telling.cancel()
            self._wait_for("")

    def _wait_for(self, whom: str) -> None:
        self._awaited, self._since = whom, time.monotonic()
        if not whom:
            self.done_loading()

    async def _tell_of_waiting(self) -> None:
        while True:
            await asyncio.sleep(QUIET_SECONDS)
            seconds = round(time.monotonic() - self._since)
            if self._awaited and seconds and not self._in_line:
                self._tell(f"waiting for {printable(self._awaited)} … {seconds} s")

    def loading(self, how_far: Loading) -> None:
        size = f"{how_far.bytes / 1e6:,.0f} MB"
        self._tell(f"loading {printable(how_far.name)} ({size}) … {how_far.seconds:.0f} s")

    def _tell(self, line: str) -> None:
        """On a line that is wiped when the answer comes."""
        if sys.stderr.isatty():
            self._told_of_waiting = True
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def done_loading(self) -> None:
        if self._told_of_waiting:
            self._told_of_waiting = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def show(self, event: LoopEvent) -> None:
        if not isinstance(event, ThinkingDelta):
            self._end_thought()
        match event:
            case AssistantDelta(text):
                print(harmless(text), end="", flush=True)
                self._in_line = not text.endswith("\n")
            case ThinkingDelta(text):
                print(self._aside.styled(harmless(text), "dim"), end="", file=sys.stderr, flush=True)
                self._in_thought = not text.endswith("\n")
            case ToolCallEvent(call):
                self._calls[call.id] = call
            case ToolStarted(call):
                self._show_call(call)
                self._wait_for(call.name)
            case ToolFinished(result):
                if result.call_id in self._calls:
                    self._show_call(self._calls[result.call_id])
                self._show_result(result)
                self._wait_for(self._model)
            case ModelChanged(ref, why):
                self._model = ref.name
                self._note(f"now {ref.name}: {why}")
                self._wait_for(self._model)
            case Notice(_, message):
                self._note(message)
            case Done(reason):
                self._end_line()
                for call in self._calls.values() if reason != "cancelled" else ():
                    arguments = msgspec.json.encode(call.arguments).decode()
                    self._screen.line(self._screen.styled(printable(f"→ {call.name}({arguments})"), "strong"))
                self._calls.clear()
            case _:
                self._end_line()

    def _show_call(self, call: ToolCall) -> None:
        self._calls.pop(call.id, None)
        self._end_line()
        words = printable(f"→ {call.name}({shown_arguments(call, LONGEST_ASIDE)})")
        self._aside.line(self._aside.styled(words, "strong"))

    def _show_result(self, result: ToolResult) -> None:
        took = f" ({result.seconds:.1f} s)" if result.seconds is not None and result.seconds >= 0.1 else ""
        pictures = f" [{len(result.images)} pictures]" if result.images else ""
        words = cut(printable(" ".join(result.content[: 4 * LONGEST_ASIDE].split())), LONGEST_ASIDE)
        self._aside.line(self._aside.styled(f"← {words}{pictures}{took}", "bad" if result.is_error else "dim"))

    def _note(self, message: str) -> None:
        self._aside.line(self._aside.styled(printable(f"note: {message}"), "doubt"))

    def failed(self, error: CallgateError) -> None:
        self.make_room()
        show_error(error)

    def make_room(self) -> None:
        self._wait_for("")
        self._end_thought()
        self._end_line()

    def _end_thought(self) -> None:
        if self._in_thought:
            self._aside.line()
            self._in_thought = False

    def _end_line(self) -> None:
        if self._in_line:
            print(flush=True)
            self._in_line = False


def harmless(text: str) -> str:
    """`text` with its lines, but nothing else that a terminal would obey."""
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)
