"""Who runs a model: a backend streams events and gives facts.

Built-in backends stand in a literal table; other packages add theirs by entry points.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.backends.llamacpp import free_memory, memory_to_run
    from callgate.backends.means import means_of
    from callgate.backends.ollama import OllamaBackend
    from callgate.backends.openai import OpenAIBackend
    from callgate.backends.prompts import RenderedPrompt, ShowsPrompts, WireRequest
    from callgate.backends.protocol import (
        Backend,
        Embedded,
        Embeds,
        Loading,
        LoadsModels,
        StatesMeans,
        TellsContexts,
        Unloads,
    )
    from callgate.backends.requirements import require_tools
    from callgate.backends.table import backend_for, place_of

__all__ = [
    "Backend",
    "Embedded",
    "Embeds",
    "Loading",
    "LoadsModels",
    "OllamaBackend",
    "OpenAIBackend",
    "RenderedPrompt",
    "ShowsPrompts",
    "StatesMeans",
    "TellsContexts",
    "Unloads",
    "WireRequest",
    "backend_for",
    "free_memory",
    "means_of",
    "memory_to_run",
    "place_of",
    "require_tools",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Backend": "protocol",
        "Embedded": "protocol",
        "Embeds": "protocol",
        "Loading": "protocol",
        "LoadsModels": "protocol",
        "OllamaBackend": "ollama",
        "OpenAIBackend": "openai",
        "RenderedPrompt": "prompts",
        "ShowsPrompts": "prompts",
        "StatesMeans": "protocol",
        "TellsContexts": "protocol",
        "Unloads": "protocol",
        "WireRequest": "prompts",
        "backend_for": "table",
        "free_memory": "llamacpp",
        "means_of": "means",
        "memory_to_run": "llamacpp",
        "place_of": "table",
        "require_tools": "requirements",
    },
)
