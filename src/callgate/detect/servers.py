"""Which kind of server is it, and who reads what it says?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from callgate.detect.callgate_server import callgate_evidence, is_callgates
from callgate.detect.hostile import mapping, words
from callgate.detect.llama_server import llama_server_evidence
from callgate.detect.lm_studio import lm_studio_evidence
from callgate.detect.ollama import ollama_evidence
from callgate.detect.openai import openai_evidence, sglang_evidence, vllm_evidence
from callgate.vocabulary import Evidence, Facts, ServerKind

_READERS: dict[ServerKind, Callable[[Facts], Iterator[Evidence]]] = {
    ServerKind.OLLAMA: ollama_evidence,
    ServerKind.LLAMA_SERVER: llama_server_evidence,
    ServerKind.LM_STUDIO: lm_studio_evidence,
    ServerKind.VLLM: vllm_evidence,
    ServerKind.SGLANG: sglang_evidence,
    ServerKind.CALLGATE: callgate_evidence,
    ServerKind.OPENAI: openai_evidence,
}

_OWNERS = {
    "llamacpp": ServerKind.LLAMA_SERVER,
    "vllm": ServerKind.VLLM,
    "sglang": ServerKind.SGLANG,
    "library": ServerKind.OLLAMA,
    "organization_owner": ServerKind.LM_STUDIO,
}
"""What `/v1/models` says in `owned_by`. Ollama names the owner in its registry: `library` for its own models."""

_NAME_KEYS = ("id", "key", "model", "name", "selected_variant")
_MOST_ENTRIES = 1000


def server_evidence(facts: Facts) -> Iterator[Evidence]:
    """What the server of `facts` says of the model; nothing where it has none."""
    if facts.server is not None:
        yield from _READERS[facts.server](facts)


def recognise(
    *,
    models: object = None,
    headers: Mapping[str, str] | None = None,
    props: object = None,
    lm_studio: object = None,
    ollama_version: object = None,
) -> ServerKind:
    """The kind of a server by its answers, as far as they were asked for; an answer that wasn't a 200 is `None`.

    `models` is what it said to `/v1/models`, with `headers`; `props` to `/props`, `lm_studio` to `/api/v1/models` or
    `/api/v0/models`, `ollama_version` to `/api/version`.
    """
    if any(key.lower() == "server" and value.lower() == "llama.cpp" for key, value in (headers or {}).items()):
        return ServerKind.LLAMA_SERVER
    if any(is_callgates(entry) for entry in _entries(models, "data")):  # whoever owns the models there
        return ServerKind.CALLGATE
    for entry in _entries(models, "data"):
        owner = entry.get("owned_by")
        if isinstance(owner, str) and owner in _OWNERS:
            return _OWNERS[owner]
    if any("loaded_instances" in entry for entry in _entries(lm_studio, "models")):
        return ServerKind.LM_STUDIO
    if any("compatibility_type" in entry for entry in _entries(lm_studio, "data")):
        return ServerKind.LM_STUDIO
    if "default_generation_settings" in mapping(props):
        return ServerKind.LLAMA_SERVER
    if isinstance(mapping(ollama_version).get("version"), str):
        return ServerKind.OLLAMA
    return ServerKind.OPENAI


def entry_of(listing: object, name: str) -> Mapping[str, object] | None:
    """The model's entry in a server's list of models, in whichever form the list comes.

    `name` may be an alias, or lack Ollama's `:latest`. A llama-server with one model serves it under any name.
    """
    names = {name, f"{name}:latest"}
    entries = [*_entries(listing, "data"), *_entries(listing, "models")]
    for entry in entries:
        called = {text for key in _NAME_KEYS if isinstance(text := entry.get(key), str)}
        if names & (called | (words(entry.get("aliases")) or frozenset())):
            return entry
    data = _entries(listing, "data")
    if len(data) == 1 and (not name or data[0].get("owned_by") == "llamacpp"):
        return data[0]
    return None


def _entries(listing: object, key: str) -> list[Mapping[str, object]]:
    entries = mapping(listing).get(key)
    return [mapping(entry) for entry in entries[:_MOST_ENTRIES]] if isinstance(entries, list) else []
