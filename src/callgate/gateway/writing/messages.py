"""Messages as Anthropic has them: blocks, each told of when it begins, grows and ends. And its errors."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

import msgspec

from callgate.gateway.dialect import OVERLONG, Explanation, Failure, explained, last_events
from callgate.gateway.writing.ids import new_id, request_id
from callgate.runtime import Said
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta, ToolCall, ToolCallEvent, Usage

_SIGNATURE = "Y2FsbGdhdGU="
"""Clients want thinking to be signed, and send it back so. It says `callgate`, and proves nothing."""
_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
_encode = msgspec.json.encode


class MessageWriter:
    def __init__(self, model: str, *, shows_thinking: bool = True, stops: Sequence[str] = ()) -> None:
        self._about: dict[str, Any] = {
            "id": f"msg_{token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": model,
        }
        self._shows_thinking = shows_thinking
        self._usage = Usage()
        self._stops = stops
        self._ended: dict[str, Any] = {"stop_reason": "end_turn", "stop_sequence": None}
        self._has_begun = False
        self._has_called = False
        self._open: type[Event] | None = None
        """What the block that was begun and hasn't ended is made of."""
        self._index = -1
        # Written once for each block, so that of each piece but its text has to be encoded.
        self._head = b""

    def feed(self, event: Event) -> bytes:
        kind = type(event)
        if kind is self._open:
            return self._head + _encode(event.text) + b"}}\n\n"  # type: ignore[union-attr]
        if isinstance(event, AssistantDelta):
            return self._delta(event, {"type": "text", "text": ""}, "text")
        if isinstance(event, ThinkingDelta):
            return self._delta(event, {"type": "thinking", "thinking": "", "signature": ""}, "thinking")
        if isinstance(event, ToolCallEvent):
            self._has_called = True
            call = _call(event.call)
            delta = {"type": "input_json_delta", "partial_json": _encode(call["input"]).decode()}
            started = self._start({**call, "input": {}})
            told = _event({"type": "content_block_delta", "index": self._index, "delta": delta})
            return started + told + self._stop()
        self._note(event)
        return b""

    def _delta(self, event: AssistantDelta | ThinkingDelta, block: dict[str, str], name: str) -> bytes:
        if not event.text or (name == "thinking" and not self._shows_thinking):
            return b""
        started = self._start(block)
        self._open = type(event)
        head = _event({"type": "content_block_delta", "index": self._index, "delta": {"type": f"{name}_delta"}})
        self._head = head[: -len(b"}}\n\n")] + b',"%s":' % name.encode()
        return started + self._head + _encode(event.text) + b"}}\n\n"

    def _begin(self) -> bytes:
        if self._has_begun:
            return b""
        self._has_begun = True
        start = {**self._about, "content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(Usage())}
        return _event({"type": "message_start", "message": start}) + _PING

    def _start(self, block: dict[str, Any]) -> bytes:
        before = self._begin() + self._close()
        self._index += 1
        return before + _event({"type": "content_block_start", "index": self._index, "content_block": block})

    def _stop(self) -> bytes:
        return _event({"type": "content_block_stop", "index": self._index})

    def _close(self) -> bytes:
        was, self._open = self._open, None
        if was is None:
            return b""
        signature = b""
        if was is ThinkingDelta:
            delta = {"type": "signature_delta", "signature": _SIGNATURE}
            signature = _event({"type": "content_block_delta", "index": self._index, "delta": delta})
        return signature + self._stop()

    def _note(self, event: Event) -> None:
        if isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, Done):
            stop = event.stop if event.stop in self._stops and not self._has_called else None
            ended = "tool_use" if self._has_called else "end_turn" if stop is None else "stop_sequence"
            reason = "max_tokens" if event.reason == "length" else ended
            self._ended = {"stop_reason": reason, "stop_sequence": stop}

    def end(self, explanation: Explanation | None) -> bytes:
        usage = _usage(self._usage)
        last = {"type": "message_delta", "delta": self._ended, "usage": usage, **explained(explanation)}
        return self._begin() + self._close() + _event(last) + _event({"type": "message_stop"})

    def alive(self) -> bytes:
        return self._begin() or _PING

    def fail(self, failure: Failure) -> bytes:
        return _event(anthropic_error(failure))

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        self._has_called = bool(said.calls)
        for event in last_events(said):
            self._note(event)
        content: list[dict[str, Any]] = []
        if said.thinking and self._shows_thinking:
            content.append({"type": "thinking", "thinking": said.thinking, "signature": _SIGNATURE})
        if said.text:
            content.append({"type": "text", "text": said.text})
        content += [_call(call) for call in said.calls]
        ended = {**self._ended, "usage": _usage(self._usage)}
        return {**self._about, "content": content, **ended, **explained(explanation)}


def _event(content: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (content["type"].encode(), _encode(content))


_PING = _event({"type": "ping"})


def _call(call: ToolCall) -> dict[str, Any]:
    """Its clients take an object alone."""
    arguments = {"arguments": call.arguments} if isinstance(call.arguments, str) else call.arguments
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _usage(used: Usage) -> dict[str, int]:
    """What was in a cache counts by itself here."""
    cached = used.cached_tokens or 0
    counted = {"input_tokens": max(0, (used.prompt_tokens or 0) - cached), "output_tokens": used.completion_tokens or 0}
    return {**counted, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached}


def anthropic_error(failure: Failure) -> dict[str, Any]:
    kind = _KINDS.get(failure.status, "api_error" if failure.status >= 500 else "invalid_request_error")
    error = {"type": kind, "message": _too_long(failure) if failure.kind == OVERLONG else failure.said}
    return {"type": "error", "error": error, "request_id": request_id.get() or f"req_{new_id()}"}


def _too_long(failure: Failure) -> str:
    """In the very words that agents look for."""
    if failure.needed is None or failure.room is None:
        return f"prompt is too long: {failure.said}"
    return f"prompt is too long: {failure.needed} tokens > {failure.room} maximum ({failure.said})"
