"""What a model streams back.

Errors are raised, never events. `Done` is last, comes once, and only where the stream ended in order.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from callgate.vocabulary.tools import ToolCall

DoneReason = Literal["stop", "length", "tool_calls", "cancelled"]


class AssistantDelta(msgspec.Struct, frozen=True):
    """A piece of the answer."""

    text: str


class ThinkingDelta(msgspec.Struct, frozen=True):
    """A piece of what the model thinks before it answers."""

    text: str


class ToolCallEvent(msgspec.Struct, frozen=True):
    """A call, whole."""

    call: ToolCall


class Notice(msgspec.Struct, frozen=True):
    """Something was degraded, and why."""

    kind: str
    """A word for programs: `tools_refused`, `context_too_small` …"""
    message: str


class Usage(msgspec.Struct, frozen=True):
    """What the turn took."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Done(msgspec.Struct, frozen=True):
    reason: DoneReason


Event = AssistantDelta | ThinkingDelta | ToolCallEvent | Notice | Usage | Done


def event_as_json(event: Event) -> dict[str, Any]:
    """The event as the plain dictionary that other programs know: `{"type", "data"}`."""
    match event:
        case AssistantDelta(text):
            return {"type": "assistant_delta", "data": {"text": text}}
        case ThinkingDelta(text):
            return {"type": "thinking_delta", "data": {"text": text}}
        case ToolCallEvent(call):
            return {"type": "tool_call", "data": {"id": call.id, "name": call.name, "args": call.arguments}}
        case Notice(kind, message):
            return {"type": "notice", "data": {"kind": kind, "message": message}}
        case Usage(prompt, completion):
            return {"type": "usage", "data": {"prompt_tokens": prompt, "completion_tokens": completion}}
        case Done(reason):
            return {"type": "done", "data": {"reason": reason}}
