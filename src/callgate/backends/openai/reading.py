"""Turns what an OpenAI-compatible server sends into events."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

import msgspec

from callgate.backends.openai.calls import Calls
from callgate.backends.openai.failures import Failures
from callgate.backends.openai.shapes import CallPiece, Choice, Part, Tokens, decode_chunk
from callgate.vocabulary import (
    AssistantDelta,
    BadAnswer,
    ChatRequest,
    Done,
    Event,
    Notice,
    StreamCut,
    StreamFailed,
    ThinkingDelta,
    ToolCallEvent,
    Usage,
)

LARGEST_CALLS = 64 << 20
"""Bytes that all the pieces of an answer's calls may take, with what is around them."""

_DONE = b"[DONE]"
_AT_LENGTH = ("length", "max_tokens")
_AT_FAULT = ("error", "abort", "cancelled")


def _random_id() -> str:
    return f"call_{secrets.token_hex(12)}"


class Reading:
    """One answer, while it is read: `feed` until it `is_over`, or `whole`; then `close`."""

    def __init__(self, place: str, request: ChatRequest, new_id: Callable[[], str] = _random_id) -> None:
        self.place = place
        """Who sends it, as it may be shown."""
        self._request = request
        self._new_id = new_id
        self._calls: Calls | None = None
        self._calls_bytes = 0
        self._usage: Tokens | None = None
        self.finish: str | None = None
        """Why it ended, once it has: nothing but the usage can follow."""
        self.is_over = False
        """The server has said that this is all."""
        self._stop: str | None = None
        self._has_said = False

    def feed(self, data: bytes) -> list[Event]:
        """The events in one chunk of a stream. Raises: BadAnswer, StreamFailed; see also `Failures`."""
        events: list[Event] = []
        if not data or self.is_over:
            return events
        if data == _DONE:
            self.end()
            return events
        try:
            chunk = decode_chunk(data)
        except (msgspec.DecodeError, RecursionError, ValueError) as problem:
            raise self._unreadable(problem) from None
        if chunk.choices:
            for choice in chunk.choices:
                if not choice.index:  # other choices are other answers, and nobody asked for them
                    self._read(choice, len(data), events)
        if chunk.usage is not None:
            self._usage = chunk.usage
        if chunk.verbose is not None:
            self._stopped_by(chunk.verbose.stopping_word)
        if chunk.error is not None or chunk.object == "error":
            said = chunk.message if chunk.error is None else chunk.error
            raise Failures(self.place, self._request).inside(said, self._has_said)
        if events:
            self._has_said = True
        return events

    def whole(self, body: bytes) -> list[Event]:
        """The events of an answer that came as one JSON object. Raises as `feed` does."""
        events = self.feed(body)
        if not events and self.finish is None and self._usage is None:
            raise BadAnswer(f"{self.place} sent no answer", hint="is this an OpenAI-compatible server?")
        self.end()
        return events

    def end(self) -> None:
        """The server says that this is all."""
        self.finish = self.finish or "stop"
        self.is_over = True

    def close(self) -> list[Event]:
        """The last events. Raises: StreamCut, if the server never said that this is all."""
        if self.finish is None:
            raise StreamCut(
                f"{self.place} ended its answer without a word that it is whole",
                hint="did the server crash, or something between it and here?",
            )
        events: list[Event] = []
        if self._calls is not None:
            events += self._calls.close()
        if (usage := self._usage) is not None:
            events.append(Usage(usage.prompt_tokens, usage.completion_tokens, usage.cached))
        if self.finish == "content_filter":
            events.append(Notice("content_filtered", f"{self.place} withheld the rest of the answer"))
        events.append(self._done(self.finish))
        return events

    def _done(self, finish: str) -> Done:
        if finish in _AT_LENGTH:
            return Done("length")
        return Done("stop", self._stop) if self._calls is None else Done("tool_calls")

    def _stopped_by(self, word: object) -> None:
        """Or by a token, which is a number."""
        if isinstance(word, str) and word:
            self._stop = word

    def _unreadable(self, problem: Exception) -> BadAnswer:
        match problem:
            case RecursionError():
                why = "JSON that is nested too deeply"
            case msgspec.ValidationError():
                why = f"an answer of another shape ({str(problem)[:200]})"
            case _:
                why = "something that isn't JSON"
        return BadAnswer(f"{self.place} sent {why}", hint="is this an OpenAI-compatible server?")

    def _read(self, choice: Choice, size: int, events: list[Event]) -> None:
        """Adds to `events` what there is in `choice`, of a chunk of that size."""
        saying = choice.delta
        if saying is None and (saying := choice.message) is not None:
            for position, call in enumerate(saying.tool_calls or ()):
                call.index = position
        if saying is not None:
            if thought := saying.reasoning_content or saying.reasoning:
                events.append(ThinkingDelta(thought))
            if content := saying.content:
                if isinstance(content, str):
                    events.append(AssistantDelta(content))
                else:
                    events += _of_parts(content)
            if saying.refusal:
                events.append(AssistantDelta(saying.refusal))
            if saying.tool_calls:
                events += self._of_calls(saying.tool_calls, size)
            elif (old := saying.function_call) is not None and (old.name or old.arguments):
                events += self._of_calls([CallPiece(index=0, function=old)], size)
        if choice.finish_reason:
            self.finish = choice.finish_reason
            self._stopped_by(choice.stop_reason or choice.matched_stop)
            if self._calls is not None:
                events += self._calls.close()
            if self.finish in _AT_FAULT:
                raise StreamFailed(f"{self.place} gave up in the middle of its answer ({self.finish[:40]!r})")

    def _of_calls(self, pieces: list[CallPiece], size: int) -> list[ToolCallEvent]:
        self._calls_bytes += size
        if self._calls_bytes > LARGEST_CALLS:
            raise BadAnswer(f"{self.place} sent tool calls of more than {LARGEST_CALLS >> 20} MiB")
        if self._calls is None:
            self._calls = Calls(self._new_id)
        return self._calls.feed(pieces)


def _of_parts(parts: list[Part]) -> Iterator[Event]:
    for part in parts:
        thinking = part.thinking
        if isinstance(thinking, list):
            thinking = "".join(inner.text or "" for inner in thinking)
        if thinking:
            yield ThinkingDelta(thinking)
        if part.text:
            yield AssistantDelta(part.text)
