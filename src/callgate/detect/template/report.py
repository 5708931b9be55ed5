"""What one chat template can do."""

from __future__ import annotations

import msgspec


class TemplateReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of the probe. The fields are named like those of `Capabilities`."""

    supports_tools: bool
    supports_tool_calls: bool
    supports_tool_responses: bool
    supports_parallel_tool_calls: bool
    supports_system_role: bool
    supports_string_content: bool
    supports_typed_content: bool
    requires_typed_content: bool
    requires_object_arguments: bool
    requires_string_arguments: bool
    supports_preserve_reasoning: bool
    supports_enable_thinking: bool
    thinking_switch: str | None
    notes: tuple[str, ...] = ()
    """What else a person should know about it."""
    engine: str = ""
    """Which engine rendered it, with the reason where it wasn't the fast one."""
