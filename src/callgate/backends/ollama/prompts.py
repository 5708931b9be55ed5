"""How an Ollama is asked for the prompt that it makes of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.backends.ollama.names import entry_for
from callgate.backends.prompts import RenderedPrompt
from callgate.vocabulary import ServerKind


def render_only(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same request, for its prompt alone. A server that doesn't know the word answers it, with one token."""
    options = {**body.get("options", {}), "num_predict": 1}
    return {**body, "stream": False, "options": options, "_debug_render_only": True}


def prompt_in(answer: object) -> RenderedPrompt | None:
    match answer:
        case {"_debug_info": {"rendered_template": str(prompt)}}:
            return RenderedPrompt(prompt, ServerKind.OLLAMA)
    return None


def would_load(body: Mapping[str, Any], running: object) -> bool:
    """Whether the server would load a model for this request, by what it says of those that are `running`."""
    loaded = entry_for(running, body["model"])
    wanted = body.get("options", {}).get("num_ctx")
    return loaded is None or wanted not in (None, loaded.get("context_length"))
