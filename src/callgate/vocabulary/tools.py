"""A tool, a call of it, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.vocabulary.images import Image


def _no_parameters() -> Mapping[str, Any]:
    return {"type": "object", "properties": {}}


class Tool(msgspec.Struct, frozen=True):
    """What a model is told of a tool."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = msgspec.field(default_factory=_no_parameters)
    """A JSON Schema of type object."""


class Repair(msgspec.Struct, frozen=True):
    """One thing that was mended in a call. `before` and `after` are a user's data: logs get `path` and `rule` only."""

    path: str
    """Where in the arguments, as a JSON Pointer; `name`, if it was the tool's name."""
    before: Any
    after: Any
    rule: str


class ToolCall(msgspec.Struct, frozen=True):
    """One call of a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    """An object; a text only where the model sent something that isn't one."""
    raw: str | None = None
    """What the model sent, where it came as text: the arguments alone, or the whole call."""
    repairs: tuple[Repair, ...] = ()
    problem: str | None = None
    """Why it can't be run, in words that the model can act upon: there is no such tool, a value is missing …"""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a call, in words for the model."""

    call_id: str
    name: str
    content: str
    is_error: bool = False
    images: tuple[Image, ...] = ()
    seconds: float | None = None
    """How long it took."""
