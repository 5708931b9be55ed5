"""Turns what an OpenAI-compatible server sends into events."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

import msgspec

from callgate.backends.openai.calls import Calls
from callgate.backends.openai.failures import Failures
from callgate.backends.openai.shapes import CallPiece, Choice, Chunk, Part, Tokens, decode_chunk
from callgate.vocabulary import (
    AssistantDelta,
    BadAnswer,
    Done,
    Event,
    Notice,
    StreamCut,
    StreamFailed,
    ThinkingDelta,
    Usage,
)
from callgate.wire import SseDecoder

LARGEST_CALLS = 64 << 20
"""Bytes that all the pieces of an answer's calls may take, with what is around them."""

_DONE = b"[DONE]"
_AT_LENGTH = ("length", "max_tokens")
_AT_FAULT = ("error", "abort", "cancelled")


def _random_id() -> str:
    return f"call_{secrets.token_hex(12)}"


class Reading:
    """One answer, while it is read: `feed` or `whole`, then `close`."""

    def __init__(self, failures: Failures, new_id: Callable[[], str] = _random_id) -> None:
        self._failures = failures
        self._calls = Calls(new_id)
        self._calls_bytes = 0
        self._usage: Tokens | None = None
        self._finish: str | None = None
        self._stop: str | None = None
        self._has_said = False

    @property
    def place(self) -> str:
        return self._failures.place

    @property
    def is_finished(self) -> bool:
        """Nothing but the usage can follow."""
        return self._finish is not None

    def feed(self, data: bytes) -> list[Event]:
        """The events in one chunk of a stream. Raises: BadAnswer, StreamFailed; see also `Failures`."""
        chunk = self._decoded(data)
        events: list[Event] = []
        if chunk.choices:
            for choice in chunk.choices:
                if not choice.index:  # other choices are other answers, and nobody asked for them
                    events += self._events(choice, len(data))
        if chunk.usage is not None:
            self._usage = chunk.usage
        if chunk.verbose is not None:
            self._stopped_by(chunk.verbose.stopping_word)
        if chunk.error is not None or chunk.object == "error":
            raise self._failures.inside(chunk.message if chunk.error is None else chunk.error, self._has_said)
        if events:
            self._has_said = True
        return events

    def whole(self, body: bytes) -> list[Event]:
        """The events of an answer that came as one JSON object. Raises as `feed` does."""
        events = self.feed(body)
        if not events and self._finish is None and self._usage is None:
            raise BadAnswer(f"{self.place} sent no answer", hint="is this an OpenAI-compatible server?")
        self.end()
        return events

    def end(self) -> None:
        """The server says that this is all."""
        self._finish = self._finish or "stop"

    def close(self) -> Iterator[Event]:
        """The last events. Raises: StreamCut, if the server never said that this is all."""
        if self._finish is None:
            raise StreamCut(
                f"{self.place} ended its answer without a word that it is whole",
                hint="did the server crash, or something between it and here?",
            )
        yield from self._calls.close()
        if self._usage is not None:
            yield Usage(self._usage.prompt_tokens, self._usage.completion_tokens, self._usage.cached)
        if self._finish == "content_filter":
            yield Notice("content_filtered", f"{self.place} withheld the rest of the answer")
        yield self._done(self._finish)

    def _done(self, finish: str) -> Done:
        if finish in _AT_LENGTH:
            return Done("length")
        return Done("tool_calls") if self._calls else Done("stop", self._stop)

    def _stopped_by(self, word: object) -> None:
        """Or by a token, which is a number."""
        if isinstance(word, str) and word:
            self._stop = word

    def _decoded(self, data: bytes) -> Chunk:
        try:
            return decode_chunk(data)
        except RecursionError:
            why = "JSON that is nested too deeply"
        except msgspec.ValidationError as problem:
            why = f"an answer of another shape ({str(problem)[:200]})"
        except (msgspec.DecodeError, ValueError):
            why = "something that isn't JSON"
        raise BadAnswer(f"{self.place} sent {why}", hint="is this an OpenAI-compatible server?") from None

    def _events(self, choice: Choice, size: int) -> list[Event]:
        events: list[Event] = []
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
            self._finish = choice.finish_reason
            self._stopped_by(choice.stop_reason or choice.matched_stop)
            events += self._calls.close()
            if self._finish in _AT_FAULT:
                raise StreamFailed(f"{self.place} gave up in the middle of its answer ({self._finish[:40]!r})")
        return events

    def _of_calls(self, pieces: list[CallPiece], size: int) -> Iterator[Event]:
        self._calls_bytes += size
        if self._calls_bytes > LARGEST_CALLS:
            raise BadAnswer(f"{self.place} sent tool calls of more than {LARGEST_CALLS >> 20} MiB")
        yield from self._calls.feed(pieces)


class StreamedAnswer:
    """An answer that comes as server-sent events, in pieces of any size."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._decoder = SseDecoder(reading.place)
        self.is_over = False

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that `piece` completes; an empty one is the end. Raises as `Reading.feed` does."""
        # At its end an event may lack its last empty line.
        for data in self._decoder.feed(piece) if piece else self._decoder.close():
            if data == _DONE:
                self._reading.end()
                self.is_over = True
                return
            if data:
                yield from self._reading.feed(data)
        self.is_over = not piece


def _of_parts(parts: list[Part]) -> Iterator[Event]:
    for part in parts:
        thinking = part.thinking
        if isinstance(thinking, list):
            thinking = "".join(inner.text or "" for inner in thinking)
        if thinking:
            yield ThinkingDelta(thinking)
        if part.text:
            yield AssistantDelta(part.text)
