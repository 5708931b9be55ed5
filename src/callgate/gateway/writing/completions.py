"""Completions, of chats and of prompts, as OpenAI has them."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import msgspec

from callgate.gateway.dialect import COMMENT, Explanation, Failure, explained, last_events
from callgate.gateway.writing.ids import new_id
from callgate.gateway.writing.openai_errors import openai_error
from callgate.runtime import Said
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta, ToolCall, ToolCallEvent, Usage

_encode = msgspec.json.encode
_PIECE_ENDS = b'},"finish_reason":null}]}\n\n'


class _Writer:
    """What both kinds have in common."""

    kind = ""
    id_starts = ""
    _usage = Usage()
    _reason = "stop"
    _calls = 0

    def __init__(self, model: str, *, wants_usage: bool) -> None:
        self._about: dict[str, Any] = {
            "id": f"{self.id_starts}-{new_id()}",
            "object": self.kind,
            "created": int(time.time()),
            "model": model,
        }
        if wants_usage:
            self._about["usage"] = None
        self._wants_usage = wants_usage

    def note(self, event: Event) -> None:
        """Of what is told at the end."""
        if type(event) is Usage:
            self._usage = event
        elif type(event) is Done:
            self._reason = "tool_calls" if self._calls and event.reason != "length" else _finish(event.reason)

    def ending(self, last: dict[str, Any], explanation: Explanation | None) -> bytes:
        finish = {**self._about, "choices": [last], **explained(explanation)}
        usage = {**self._about, "choices": [], "usage": _usage(self._usage)}
        return b"".join((_line(finish), _line(usage) if self._wants_usage else b"", b"data: [DONE]\n\n"))

    def alive(self) -> bytes:
        return COMMENT

    def fail(self, failure: Failure) -> bytes:
        return _line(openai_error(failure))

    def all_of(self, choice: dict[str, Any], explanation: Explanation | None) -> object:
        answer = {**self._about, "choices": [choice], "usage": _usage(self._usage)}
        return answer if explanation is None else {**answer, **explained(explanation)}


class ChatWriter(_Writer):
    kind = "chat.completion.chunk"
    id_starts = "chatcmpl"
    _role = b'"role":"assistant",'
    """In the first piece."""

    @cached_property
    def _head(self) -> bytes:
        """Written once, so that of each piece but its text has to be encoded."""
        return b"data: " + _encode(self._about)[:-1] + b',"choices":[{"index":0,"delta":{'

    @cached_property
    def _text_head(self) -> bytes:
        return self._head + b'"content":'

    def feed(self, event: Event) -> bytes:
        if type(event) is AssistantDelta:
            if not self._role:
                return self._text_head + _encode(event.text) + _PIECE_ENDS
            piece = b'"content":' + _encode(event.text)
        elif type(event) is ThinkingDelta:
            piece = b'"reasoning_content":' + _encode(event.text)
        elif type(event) is ToolCallEvent:
            piece = self.call_piece(event.call)
            self._calls += 1
            if not piece:
                return b""
        else:
            self.note(event)
            return b""
        role, self._role = self._role, b""
        return self._head + role + piece + _PIECE_ENDS

    def call_piece(self, call: ToolCall) -> bytes:
        """Of a delta; nothing, if there is no place for it."""
        return b'"tool_calls":[' + _encode({"index": self._calls, **_call(call)}) + b"]"

    def end(self, explanation: Explanation | None) -> bytes:
        delta = {"role": "assistant", "content": ""} if self._role else {}
        return self.ending({"index": 0, "delta": delta, "finish_reason": self._reason}, explanation)

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        self._calls = len(said.calls)
        for event in last_events(said):
            self.note(event)
        text = said.text or (None if said.calls else "")
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if said.thinking:
            message["reasoning_content"] = said.thinking
        if said.calls:
            message["tool_calls"] = [_call(call) for call in said.calls]
        self._about["object"] = "chat.completion"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason}
        return self.all_of(choice, explanation)


class CompletionWriter(_Writer):
    kind = "text_completion"
    id_starts = "cmpl"

    def feed(self, event: Event) -> bytes:
        if isinstance(event, AssistantDelta):
            return _line({**self._about, "choices": [_text_choice(event.text, None)]})
        self.note(event)
        return b""

    def end(self, explanation: Explanation | None) -> bytes:
        return self.ending(_text_choice("", self._reason), explanation)

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        for event in last_events(said):
            self.note(event)
        return self.all_of(_text_choice(said.text, self._reason), explanation)


def _text_choice(text: str, reason: str | None) -> dict[str, Any]:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": reason}


def _line(content: object) -> bytes:
    return b"data: " + _encode(content) + b"\n\n"


def _finish(reason: str) -> str:
    return "length" if reason == "length" else "tool_calls" if reason == "tool_calls" else "stop"


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments if isinstance(call.arguments, str) else _encode(call.arguments).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _usage(used: Usage) -> dict[str, Any]:
    prompt, completion = used.prompt_tokens or 0, used.completion_tokens or 0
    counted = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    cached = used.cached_tokens
    return counted if cached is None else {**counted, "prompt_tokens_details": {"cached_tokens": cached}}
