"""What a model can do, as far as it is known, with the reasons to believe it."""

from __future__ import annotations

import msgspec

from callgate.vocabulary.answer import Answer
from callgate.vocabulary.evidence import Evidence


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from a model's `Facts`. `None` means: not known.

    `tools` is the verdict on the model, `native_route` the one on its server: will it pass tools through?
    """

    name: str
    tools: Answer = Answer.UNKNOWN
    native_route: Answer = Answer.UNKNOWN
    guess: bool = False
    """Its server failed to answer, or nothing but its name speaks on tools: don't rely on it."""

    supports_tools: bool | None = None
    supports_tool_calls: bool | None = None
    supports_tool_responses: bool | None = None
    supports_parallel_tool_calls: bool | None = None
    supports_system_role: bool | None = None
    supports_string_content: bool | None = None
    supports_typed_content: bool | None = None
    requires_typed_content: bool | None = None
    requires_object_arguments: bool | None = None
    requires_string_arguments: bool | None = None
    supports_preserve_reasoning: bool | None = None
    supports_thinking: bool | None = None
    supports_enable_thinking: bool | None = None
    thinking_switch: str | None = None
    """The template variable that turns thinking on and off."""
    supports_vision: bool | None = None
    supports_audio: bool | None = None
    is_embedding: bool | None = None

    context_length: int | None = None
    loaded_context: int | None = None
    """The context that the server really runs the model with, where it is loaded."""
    parameter_count: int | None = None
    parameter_size: str | None = None
    quantization: str | None = None
    family: str | None = None
    architecture: str | None = None
    reliability: str | None = None
    """How steadily models of this family call tools, where that is known."""
    chat_format: str | None = None
    """What an engine calls the format of the model's calls: a diagnostic."""
    has_tool_use_template: bool = False

    evidence: tuple[Evidence, ...] = ()
    """In order of weight, the strongest first."""
    cached_at: float | None = None
