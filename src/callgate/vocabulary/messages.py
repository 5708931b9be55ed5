"""A conversation, and what is asked of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from callgate.vocabulary.images import Image
from callgate.vocabulary.tools import Tool, ToolCall

Role = Literal["system", "user", "assistant", "tool"]
Think = bool | Literal["low", "medium", "high", "max"]


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation, of any role."""

    role: Role
    content: str = ""
    images: tuple[Image, ...] = ()
    """Of a user's message."""
    thinking: str | None = None
    """Of an assistant's message."""
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message."""
    call_id: str | None = None
    """Of a tool's message: the call that it answers."""
    name: str | None = None
    """Of a tool's message: the tool."""


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a model. What is `None` or empty isn't sent, so that the server's own default holds."""

    model: str
    """The model's name at its backend."""
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str | None = None
    """`auto`, `none`, `required`, or the name of the tool that must be called."""
    parallel_tool_calls: bool | None = None
    schema: Mapping[str, Any] | None = None
    """The JSON Schema to which the answer is held."""
    think: Think | None = None
    max_tokens: int | None = None
    options: Mapping[str, Any] = {}
    """Sampling options by the names that backends share: `temperature`, `top_p`, `seed`, `stop` …"""
    extra: Mapping[str, Any] = {}
    """What we don't know: it reaches the backend as it is."""
    stream: bool = True
    whole_prompt: bool = False
    """A server that has no room for the prompt is to say so, rather than leave out its beginning."""
