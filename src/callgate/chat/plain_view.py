"""A chat in plain lines: for pipes, for simple terminals, and for whoever has a screen read to them.

Answers and what commands say go to standard output, all else to standard error. Nothing is drawn twice.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from callgate.backends import Loading
from callgate.chat.cleaning import Cleaner, cleaned, on_one_line, with_colours
from callgate.chat.items import Line, Shown
from callgate.chat.typed import is_no_answer
from callgate.chat.views import Ask, Kind, Status
from callgate.chat.words import seconds_of, shortened
from callgate.runtime import LoopEvent, ModelChanged, ToolFinished, ToolStarted, in_own_thread, shown_arguments
from callgate.vocabulary import AssistantDelta, CallgateError, Message, Notice, ThinkingDelta, ToolCall, ToolCallEvent

PROMPT = "› "
LONGEST_ASIDE = 300
LONGEST_LINE = 16 << 20


class PlainView:
    def __init__(self) -> None:
        self._asks = sys.stdin.isatty() and sys.stdout.isatty()
        self._cleaner = Cleaner()
        self._in_line = False
        self._thoughts = 0
        self._calls: dict[str, ToolCall] = {}
        self._has_ended = False
        self._reading: asyncio.Future[str] | None = None
        """A line that is waited for. Who stops waiting leaves it to the next who asks."""
        self._given_back: list[str] = []
        """Typed where a question stood, and no answer to it."""
        self.failures = 0

    goes_line_by_line = True

    @property
    def can_ask(self) -> bool:
        return self._asks

    async def lines(self) -> AsyncIterator[str]:
        while True:
            line = self._given_back.pop(0) if self._given_back else await self._read(PROMPT if self._asks else "")
            if line is None:
                return
            yield line

    async def _read(self, prompt: str) -> str | None:
        if self._has_ended:
            return None
        if prompt:
            print(prompt, end="", flush=True)
        if self._reading is None:
            self._reading = asyncio.ensure_future(in_own_thread(_line, name="callgate-typed"))
        typed = await asyncio.shield(self._reading)
        self._reading = None
        if not typed:
            self._has_ended = True
            if prompt:
                print()
            return None
        return typed.rstrip("\r\n")

    def tell(self, text: str, kind: Kind = "note", data: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        self._end_line()
        aside = kind in ("first", "note", "warning") and not self._asks
        prefix = "note: " if kind == "note" else "warning: " if kind == "warning" else ""
        print(prefix + cleaned(text), file=sys.stderr if aside else sys.stdout, flush=True)

    def show_text(self, text: str, name: str, data: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._end_line()
        print(with_colours(text), flush=True)

    def show_history(self, items: Sequence[Shown]) -> None:
        for item in items:
            if isinstance(item, Line):
                self.tell(item.text, "swap" if self._asks else "note")
            elif self._asks:
                self._show_message(item.message)

    def _show_message(self, message: Message) -> None:
        if message.role == "user":
            print(PROMPT + cleaned(message.content))
        elif message.role == "assistant" and message.content:
            print(cleaned(message.content))

    def begin(self, model: str) -> None:  # noqa: ARG002
        self._cleaner = Cleaner()

    def show(self, event: LoopEvent) -> None:
        if not isinstance(event, ThinkingDelta):
            self._end_thought()
        match event:
            case AssistantDelta(text):
                if text := self._cleaner.feed(text):
                    print(text, end="", flush=True)
                    self._in_line = not text.endswith("\n")
            case ThinkingDelta(text):
                self._thoughts += len(text.split())
            case ToolCallEvent(call):
                self._calls[call.id] = call
            case ToolStarted(call):
                self._show_call(call)
            case ToolFinished(result):
                if result.call_id in self._calls:
                    self._show_call(self._calls[result.call_id])
                took = f" ({seconds_of(result.seconds)})" if result.seconds is not None else ""
                words = shortened(on_one_line(result.content[: 8 * LONGEST_ASIDE]), LONGEST_ASIDE)
                self._aside(f"← {'failed: ' if result.is_error else ''}{words}{took}")
            case ModelChanged(ref, why):
                self._aside(f"now {ref.name}: {why}")
            case Notice(_, message):
                self._aside(f"note: {message}")

    def _show_call(self, call: ToolCall) -> None:
        self._calls.pop(call.id, None)
        self._aside(f"→ {call.name} {shown_arguments(call, LONGEST_ASIDE)}")

    def end(self, *, stopped: bool = False) -> None:
        self._end_thought()
        if rest := self._cleaner.close():
            print(rest, end="", flush=True)
            self._in_line = True
        self._end_line()
        if stopped:
            self._aside("stopped")

    def loading(self, how_far: Loading) -> None:
        """It is waited for in silence."""

    def failed(self, error: CallgateError) -> None:
        self.failures += 1
        self._aside(f"error: {error.message}")
        if error.hint:
            self._aside(f"hint: {error.hint}")

    def status(self, status: Status) -> None:
        """There is no place for it."""

    async def ask(self, ask: Ask) -> str | None:
        if not self._asks:
            return None
        self._end_line()
        for line in ask.before:
            print(cleaned(line))
        if ask.pick:
            for name, meaning in ask.choices.items():
                print(f"  {on_one_line(name)}  {on_one_line(meaning)}")
        while True:
            typed = (await self._read(f"{on_one_line(ask.words)} ") or "").strip()
            if not is_no_answer(typed, gives_way=ask.gives_way and not ask.pick):
                return typed or None
            self._given_back.append(typed)
            if ask.gives_way:
                return None

    async def close(self) -> None:
        self._end_line()

    def _aside(self, text: str) -> None:
        self._end_line()
        print(on_one_line(text), file=sys.stdout if self._asks else sys.stderr, flush=True)

    def _end_thought(self) -> None:
        if self._thoughts:
            words, self._thoughts = self._thoughts, 0
            self._aside(f"(it thought, in {words:,} words)")

    def _end_line(self) -> None:
        if self._in_line:
            self._in_line = False
            print(flush=True)


_reading = threading.Lock()


def _line() -> str:
    """Byte by byte, and not through sys.stdin, which a thread left behind would hold locked while Python ends."""
    taken = bytearray()
    with _reading:
        handle = sys.stdin.fileno()
        while len(taken) < LONGEST_LINE and (piece := os.read(handle, 1)):
            taken += piece
            if piece == b"\n":
                break
    return taken.decode("utf-8", "replace")
