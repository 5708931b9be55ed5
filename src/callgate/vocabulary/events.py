"""What a model streams back.

Errors are raised, never events. `Done` is last, comes once, and only where the stream ended in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import msgspec

from callgate.vocabulary.errors import UsageError
from callgate.vocabulary.tools import Repair, ToolCall

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
    cached_tokens: int | None = None
    """How many of the prompt's the engine didn't have to read again, where its server tells."""


class Done(msgspec.Struct, frozen=True):
    reason: DoneReason
    stop: str | None = None
    """Which of the texts that were to end the answer did, where its server tells."""


Event = AssistantDelta | ThinkingDelta | ToolCallEvent | Notice | Usage | Done


def event_as_json(event: Event) -> dict[str, Any]:
    """The event as the plain dictionary that other programs know: `{"type", "data"}`."""
    match event:
        case AssistantDelta(text):
            return {"type": "assistant_delta", "data": {"text": text}}
        case ThinkingDelta(text):
            return {"type": "thinking_delta", "data": {"text": text}}
        case ToolCallEvent(call):
            return {"type": "tool_call", "data": _call_as_json(call)}
        case Notice(kind, message):
            return {"type": "notice", "data": {"kind": kind, "message": message}}
        case Usage(prompt, completion, cached):
            more: dict[str, Any] = {} if cached is None else {"cached_tokens": cached}
            return {"type": "usage", "data": {"prompt_tokens": prompt, "completion_tokens": completion, **more}}
        case Done(reason, stop):
            return {"type": "done", "data": {"reason": reason} if stop is None else {"reason": reason, "stop": stop}}


def event_from_json(value: object) -> Event:
    """The event that `event_as_json` made `value` of. A call may have its `raw` arguments too.

    Raises: UsageError, if it is none.
    """
    match value:
        case {"type": str(kind), "data": dict(data)}:
            if (read := _READERS.get(kind)) is None:
                raise UsageError(f"there is no event of type {kind[:80]!r}", hint=f"there are: {', '.join(_READERS)}")
            if (event := read(data)) is not None:
                return event
            raise UsageError(f"the event of type {kind!r} lacks something, or has something of the wrong type")
    raise UsageError("an event is an object with a type and data", hint='{"type": "done", "data": {"reason": "stop"}}')


def _call_as_json(call: ToolCall) -> dict[str, Any]:
    data: dict[str, Any] = {"id": call.id, "name": call.name, "args": call.arguments}
    if call.repairs:
        data["repairs"] = [repair_as_json(repair) for repair in call.repairs]
    if call.problem is not None:
        data["problem"] = call.problem
    return data


def repair_as_json(repair: Repair) -> dict[str, Any]:
    return {"path": repair.path, "from": repair.before, "to": repair.after, "rule": repair.rule}


def _call_from_json(data: Mapping[str, Any]) -> Event | None:
    match data:
        case {"id": str(id_), "name": str(name), "args": dict() | str() as arguments}:
            raw, problem, listed = data.get("raw"), data.get("problem"), data.get("repairs", [])
            if not isinstance(raw, str | None) or not isinstance(problem, str | None) or not isinstance(listed, list):
                return None
            repairs = [_repair_from_json(entry) for entry in listed]
            if None in repairs:
                return None
            return ToolCallEvent(ToolCall(id_, name, arguments, raw, tuple(filter(None, repairs)), problem))
    return None


def _repair_from_json(entry: object) -> Repair | None:
    match entry:
        case {"path": str(path), "from": before, "to": after, "rule": str(rule)}:
            return Repair(path, before, after, rule)
    return None


def _notice_from_json(data: Mapping[str, Any]) -> Event | None:
    match data:
        case {"kind": str(kind), "message": str(message)}:
            return Notice(kind, message)
    return None


def _usage_from_json(data: Mapping[str, Any]) -> Event | None:
    counts = [data.get(name) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")]
    return Usage(*counts) if all(count is None or type(count) is int for count in counts) else None


def _done_from_json(data: Mapping[str, Any]) -> Event | None:
    stop = data.get("stop")
    is_whole = data.get("reason") in get_args(DoneReason) and isinstance(stop, str | None)
    return Done(data["reason"], stop) if is_whole else None


def _text(data: Mapping[str, Any]) -> str | None:
    text = data.get("text")
    return text if isinstance(text, str) else None


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Event | None]] = {
    "assistant_delta": lambda data: None if (text := _text(data)) is None else AssistantDelta(text),
    "thinking_delta": lambda data: None if (text := _text(data)) is None else ThinkingDelta(text),
    "tool_call": _call_from_json,
    "notice": _notice_from_json,
    "usage": _usage_from_json,
    "done": _done_from_json,
}
