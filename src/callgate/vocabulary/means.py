"""What a backend can do to hold a model to something."""

from __future__ import annotations

import msgspec


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What a server honours of a `ChatRequest`, beyond messages and tools. What it doesn't, the gate does instead."""

    schema: bool = False
    """It holds the answer to `ChatRequest.schema`."""
    grammar: bool = False
    """It holds the answer to llama.cpp's `grammar`, sent as `extra["grammar"]`."""
    tool_choice: bool = False
    parallel_tool_calls: bool = False
    tool_names: str = r"^[a-zA-Z0-9_-]{1,64}$"
    """The names that it takes for tools, as a regular expression over the whole name."""
