"""What each kind of server honours of a request."""

from __future__ import annotations

from collections.abc import Mapping

from callgate.vocabulary import Facts, Means, ServerKind

_ALL = Means(schema=True, tool_choice=True, parallel_tool_calls=True)
_MEANS: Mapping[ServerKind, Means] = {
    ServerKind.OLLAMA: Means(schema=True),
    ServerKind.LLAMA_SERVER: Means(schema=True, grammar=True, tool_choice=True, parallel_tool_calls=True),
    ServerKind.LM_STUDIO: Means(schema=True),
    ServerKind.VLLM: _ALL,
    ServerKind.SGLANG: _ALL,
    ServerKind.CALLGATE: _ALL,
    ServerKind.OPENAI: _ALL,
}


def means_of(facts: Facts) -> Means:
    """Of the server that has the model; of our own engine, where there is a file and no server."""
    if facts.server is None:
        return _MEANS[ServerKind.LLAMA_SERVER] if facts.header is not None else Means()
    return _MEANS[facts.server]
