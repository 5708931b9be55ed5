"""A chat as it is drawn on a terminal: what is done scrolls away, what still changes stands above the prompt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from callgate.backends import Loading
from callgate.chat.cleaning import Cleaner, cleaned, on_one_line, with_colours
from callgate.chat.items import Line, Said, Shown
from callgate.chat.terminal.blocks import MarkdownBlocks
from callgate.chat.terminal.drawing import Drawing
from callgate.chat.terminal.front import Front
from callgate.chat.terminal.status_line import status_line
from callgate.chat.views import Ask, Kind, Status
from callgate.chat.words import plural, seconds_of, shortened
from callgate.runtime import LoopEvent, ModelChanged, ToolFinished, ToolStarted
from callgate.vocabulary import (
    AssistantDelta,
    CallgateError,
    Notice,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    ToolResult,
)

TICK_SECONDS = 0.2
_MARKS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class TerminalView:
    goes_line_by_line = False
    can_ask = True

    def __init__(self, front: Front) -> None:
        self._front = front
        self._status = Status(model="")
        self._in_turn = False
        self._ticking: asyncio.Task[None] | None = None
        self._started = 0.0
        self._loading: Loading | None = None
        self._cleaner = Cleaner()
        self._blocks = MarkdownBlocks()
        self._has_said = False
        self._thought = ""
        self._thinking_since = 0.0
        self._last_thought = ""
        self._calls: dict[str, ToolCall] = {}
        self._running: dict[str, tuple[ToolCall, float]] = {}
        self._drawing = Drawing(front.columns, colours=front.has_colours)
        self._drawn: tuple[tuple[str, int], str] = (("", 0), "")
        front.live = self._live
        front.toolbar = self._toolbar
        front.unfold = self._unfold

    def lines(self) -> AsyncIterator[str]:
        return self._front.lines()

    @property
    def drawing(self) -> Drawing:
        if self._drawing.columns != self._front.columns:
            self._drawing = Drawing(self._front.columns, colours=self._front.has_colours)
        return self._drawing

    # --- Lines of the chat's own

    def tell(self, text: str, kind: Kind = "note", data: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        self._front.above(self.drawing.line(text, kind))

    def show_text(self, text: str, name: str, data: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._front.above(with_colours(text))

    def show_history(self, items: Sequence[Shown]) -> None:
        calls = {call.id: call for item in items if isinstance(item, Said) for call in item.message.calls}
        for item in items:
            if isinstance(item, Line):
                self.tell(item.text, "swap" if item.kind == "swap" else "note")
                continue
            message = item.message
            if message.role == "user":
                self._front.above(self._front.echo(message.content))
            elif message.role == "tool":
                id_ = message.call_id or ""
                call = calls.get(id_, ToolCall(id_, message.name or "tool", {}))
                result = ToolResult(call_id=id_, name=call.name, content=message.content)
                self._front.above(self.drawing.call(call, result))
            elif message.content.strip():
                self._say([cleaned(message.content)])

    def failed(self, error: CallgateError) -> None:
        self._front.above(self.drawing.error(error.message, error.hint))

    def status(self, status: Status) -> None:
        self._status = status
        self._keep_ticking()
        self._front.redraw()

    def _toolbar(self, columns: int) -> str:
        status = self._status
        if status.doing:
            status = msgspec.structs.replace(status, doing=f"{_mark()} {status.doing}")
        return status_line(status, columns)

    async def ask(self, ask: Ask) -> str | None:
        before = "\n".join(self.drawing.line(line, "question") for line in ask.before)
        return await self._front.ask(
            on_one_line(ask.words), ask.choices, before=before, pick=ask.pick, gives_way=ask.gives_way
        )

    # --- A turn

    def begin(self, model: str) -> None:  # noqa: ARG002
        self._cleaner, self._blocks = Cleaner(), MarkdownBlocks()
        self._has_said, self._thought = False, ""
        self._calls.clear()
        self._running.clear()
        self._started = time.monotonic()
        self._in_turn = True
        self._keep_ticking()

    def _keep_ticking(self) -> None:
        """As long as something is waited for, there is a sign of life."""
        if (self._in_turn or self._status.doing) and self._ticking is None:
            self._ticking = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        while self._in_turn or self._status.doing:
            self._front.redraw()
            await asyncio.sleep(TICK_SECONDS)
        self._ticking = None

    def show(self, event: LoopEvent) -> None:
        self._loading = None
        if not isinstance(event, ThinkingDelta):
            self._fold_thought()
        match event:
            case AssistantDelta(text):
                self._has_said = True
                self._say(self._blocks.feed(self._cleaner.feed(text)))
            case ThinkingDelta(text):
                if not self._thought:
                    self._thinking_since = time.monotonic()
                self._thought += text
            case ToolCallEvent(call):
                self._finish_text()
                self._calls[call.id] = call
            case ToolStarted(call):
                self._running[call.id] = call, time.monotonic()
            case ToolFinished(result):
                self._running.pop(result.call_id, None)
                call = self._calls.pop(result.call_id, ToolCall(result.call_id, result.name, {}))
                self._front.above(self.drawing.call(call, result))
                self._started = time.monotonic()
            case ModelChanged(ref, why):
                self.tell(f"now {ref.name}: {why}", "swap")
            case Notice(_, message):
                self._finish_text()
                self.tell(message)
        self._front.redraw()

    def end(self, *, stopped: bool = False) -> None:
        self._in_turn = False
        self._loading = None
        self._fold_thought()
        self._finish_text()
        for call in self._calls.values():
            self.tell(f"→ {call.name}: {self._became_of(call, stopped)}", "note")
        self._calls.clear()
        self._running.clear()
        if stopped:
            self.tell("stopped", "note")
        self._front.redraw()

    def _became_of(self, call: ToolCall, stopped: bool) -> str:
        if call.id in self._running:
            return "it was stopped in the middle, and may have done part of its work"
        return "it wasn't run" if stopped else "nobody here has run it"

    def loading(self, how_far: Loading) -> None:
        self._loading = how_far
        self._front.redraw()

    def _say(self, blocks: Sequence[str]) -> None:
        for block in blocks:
            gap = "\n\n" if block.endswith("\n\n") or not block.endswith("\n") else "\n"
            self._front.above(self.drawing.markdown(block) + gap)

    def _finish_text(self) -> None:
        done = self._blocks.feed(self._cleaner.close())
        last = self._blocks.close()
        self._say([*done, *([last.rstrip()] if last.strip() else [])])
        self._cleaner, self._blocks, self._has_said = Cleaner(), MarkdownBlocks(), False

    def _fold_thought(self) -> None:
        if not self._thought:
            return
        self._last_thought, self._thought = self._thought, ""
        took = seconds_of(time.monotonic() - self._thinking_since)
        words = plural(len(self._last_thought.split()), "word")
        self._front.above(self.drawing.dim(f"▸ thought for {took}, {words} (Ctrl-T shows them)"))

    def _unfold(self) -> None:
        text = self._thought or self._last_thought
        self._front.above(self.drawing.dim(text.strip() or "it hasn't thought aloud"))

    # --- What still changes

    def _live(self) -> str:
        if not self._in_turn or self._front.is_asking:
            return ""
        now = time.monotonic()
        mark = _mark()
        lines: list[str] = []
        if self._thought:
            last = shortened(on_one_line(self._thought[-400:])[-self._front.columns + 24 :], self._front.columns)
            lines.append(self.drawing.dim(f"{mark} thinking {seconds_of(now - self._thinking_since)} … {last}"))
        elif self._blocks.open.strip():
            lines += self._open_block().split("\n")[-self._front.rows_for_live :]
        for call, since in self._running.values():
            lines.append(self.drawing.running(call, now - since, mark))
        if not lines:
            lines.append(self.drawing.dim(f"{mark} {self._waited_for(now)}"))
        return "\n".join(lines) + "\n"

    def _open_block(self) -> str:
        key = self._blocks.open, self._front.columns
        if self._drawn[0] != key:
            self._drawn = key, self.drawing.markdown(self._blocks.open)
        return self._drawn[1]

    def _waited_for(self, now: float) -> str:
        took = f" {seconds_of(now - self._started)}" if now - self._started >= 1 else ""
        if self._loading:
            return f"loading {on_one_line(self._loading.name)} ({self._loading.bytes / 1e6:,.0f} MB) …{took}"
        return f"…{took}"

    async def close(self) -> None:
        if self._in_turn:
            self.end()
        if self._ticking is not None:
            self._ticking.cancel()


def _mark() -> str:
    """Of what still goes on."""
    return _MARKS[int(time.monotonic() / TICK_SECONDS) % len(_MARKS)]
