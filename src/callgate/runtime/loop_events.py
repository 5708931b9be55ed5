"""What happens in an agent's loop, besides what its model says."""

from __future__ import annotations

from typing import Any

import msgspec

from callgate.vocabulary import Event, ModelRef, ToolCall, ToolResult, event_as_json


class ToolStarted(msgspec.Struct, frozen=True):
    """A call is run now. It was told of before, as a `ToolCallEvent`."""

    call: ToolCall


class ToolFinished(msgspec.Struct, frozen=True):
    """What came of a call; also of one that was never started, since it may not or can't be run."""

    result: ToolResult


class ModelChanged(msgspec.Struct, frozen=True):
    """Another model takes the turn."""

    ref: ModelRef
    why: str


LoopEvent = Event | ToolStarted | ToolFinished | ModelChanged


def loop_event_as_json(event: LoopEvent) -> dict[str, Any]:
    """As `event_as_json`, with three types more."""
    match event:
        case ToolStarted(call):
            return {"type": "tool_started", "data": {"id": call.id, "name": call.name}}
        case ToolFinished(result):
            data: dict[str, Any] = {"id": result.call_id, "name": result.name, "content": result.content}
            data["is_error"] = result.is_error
            if result.images:
                data["images"] = len(result.images)
            if result.seconds is not None:
                data["seconds"] = round(result.seconds, 3)
            return {"type": "tool_result", "data": data}
        case ModelChanged(ref, why):
            return {"type": "model_changed", "data": {"model": ref.name if ref.endpoint else str(ref), "why": why}}
    return event_as_json(event)
