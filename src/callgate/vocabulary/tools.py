"""A tool, a call of it, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


def _no_parameters() -> Mapping[str, Any]:
    return {"type": "object", "properties": {}}


class Tool(msgspec.Struct, frozen=True):
    """What a model is told of a tool."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = msgspec.field(default_factory=_no_parameters)
    """A JSON Schema of type object."""


class ToolCall(msgspec.Struct, frozen=True):
    """One call of a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    """An object; a text only where the model sent something that isn't one."""
    raw: str | None = None
    """The arguments as the model sent them, where they came as text."""
