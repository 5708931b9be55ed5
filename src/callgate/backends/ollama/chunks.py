"""What `/api/chat` answers, line by line, as events."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import msgspec

from callgate.vocabulary import (
    AssistantDelta,
    BadAnswer,
    Done,
    Event,
    StreamCut,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
)
from callgate.wire import Lines

MAX_DEPTH = 100
"""Of a call's arguments: who reads them later may do so by recursion."""


class _Function(msgspec.Struct):
    name: str
    arguments: dict[str, Any] | str | None = None


class _Call(msgspec.Struct):
    function: _Function
    id: str | None = None
    # Its index isn't read: it is often 0 for every call.


class _Message(msgspec.Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Chunk(msgspec.Struct):
    message: _Message | None = None
    done: bool = False
    error: Any = None
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None


_chunk = msgspec.json.Decoder(_Chunk)


class ErrorLine(Exception):
    """The server says in its answer that it failed. Its words may quote a call: they aren't for anybody's eyes yet."""

    def __init__(self, said: str) -> None:
        super().__init__("an error line")
        self.said = said


class Answer:
    """One answer, read as it arrives."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._lines = Lines(place)
        self._ids: set[str] = set()
        self.is_done = False
        self.has_begun = False
        """Whether a line was read."""

    def read(self, piece: bytes) -> Iterator[Event]:
        """The events in what has arrived, up to the end of the answer. An empty piece says that no more will come.

        Raises: ErrorLine, if the server says that it failed; BadAnswer, if this is no answer; StreamCut, if it ends
        before it is whole.
        """
        for line in self._lines.feed(piece):
            yield from self._events_in(line)
            if self.is_done:
                return
        if not piece:
            yield from self._close(self._lines.close())

    def _events_in(self, line: bytes) -> list[Event]:
        try:
            chunk = _chunk.decode(line)
        except (msgspec.DecodeError, ValueError, RecursionError):  # one of msgspec's is about types
            raise BadAnswer(f"{self._place} sent a line that is no part of a chat", hint="is this an Ollama?") from None
        if chunk.error is not None:
            raise ErrorLine(chunk.error if isinstance(chunk.error, str) else msgspec.json.encode(chunk.error).decode())
        self.has_begun = True
        events: list[Event] = []
        if (message := chunk.message) is not None:
            if message.thinking:
                events.append(ThinkingDelta(message.thinking))
            if message.content:
                events.append(AssistantDelta(message.content))
            if message.tool_calls:
                events += [ToolCallEvent(self._call(call)) for call in message.tool_calls]
        if chunk.done:
            self.is_done = True
            events += self._end(chunk)
        return events

    def _close(self, rest: bytes) -> Iterator[Event]:
        if rest and not _is_cut(rest):
            yield from self._events_in(rest)
        if not self.is_done:
            raise StreamCut(f"{self._place} ended its answer in the middle", hint="did it crash? see its log")

    def _call(self, call: _Call) -> ToolCall:
        name, sent = call.function.name, call.function.arguments
        if isinstance(sent, str):
            return ToolCall(self._own_id(call.id), name, _object(sent), sent)
        if is_deeper(sent, MAX_DEPTH):
            raise BadAnswer(f"{self._place} sent a call whose arguments are nested too deeply")
        return ToolCall(self._own_id(call.id), name, sent or {})

    def _own_id(self, given: str | None) -> str:
        """Old servers give none; and what has the id of another call would get its result too."""
        while not given or given in self._ids:
            given = f"call_{secrets.token_hex(12)}"
        self._ids.add(given)
        return given

    def _end(self, chunk: _Chunk) -> list[Event]:
        events: list[Event] = []
        if chunk.prompt_eval_count is not None or chunk.eval_count is not None:
            events.append(Usage(_count(chunk.prompt_eval_count), _count(chunk.eval_count)))
        # Besides these two there are `load` and `unload`, which answer a request without messages.
        events.append(Done("length" if chunk.done_reason == "length" else "tool_calls" if self._ids else "stop"))
        return events


def _is_cut(line: bytes) -> bool:
    """Whether it is the start of an object whose rest is missing, and not just something else."""
    try:
        msgspec.json.decode(line)
    except (msgspec.ValidationError, RecursionError):
        return False
    except (msgspec.DecodeError, ValueError):
        return line.startswith(b"{")
    return False


def is_deeper(value: object, depth: int) -> bool:
    """Whether containers lie in it deeper than `depth`; never by recursion."""
    level = [value]
    for _ in range(depth + 1):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        if not inner:
            return False
        level = inner
    return True


def _object(text: str) -> dict[str, Any] | str:
    try:
        found = msgspec.json.decode(text, type=dict[str, Any]) if text.strip() else {}
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text
    return text if is_deeper(found, MAX_DEPTH) else found


def _count(value: int | None) -> int | None:
    return value if value is not None and value >= 0 else None
