"""One spelling for each model, however it is named: what is said of `llama3.2` holds for `ollama:llama3.2:latest`."""

from __future__ import annotations

import os
from collections.abc import Callable

from callgate.vocabulary import ModelRef, UsageError
from callgate.wire import normalise_base_url, ollama_base_url, shown

LONGEST_ID = 4096


def key_of(ref: ModelRef) -> str:
    """By which models are told apart. Capitals make no difference to Ollama."""
    return id_of(ref).lower() if ref.scheme == "ollama" else id_of(ref)


def id_of(ref: ModelRef) -> str:
    """A text that leads back to the model when it is parsed, without any password."""
    match ref.scheme:
        case "ollama":
            endpoint = _spelt(ref.endpoint, ollama_base_url) if ref.endpoint else None
            return str(ModelRef("ollama", _full_name(ref.name), endpoint))
        case "openai" if ref.endpoint:
            return str(ModelRef("openai", ref.name, _spelt(ref.endpoint, lambda url: normalise_base_url(url).base)))
        case "file" | "scripted":
            path = shown(ref.name) if _is_url(ref.name) else os.path.abspath(os.path.expanduser(ref.name))
            return str(ModelRef(ref.scheme, path))
        case _:
            return str(ref)


def key_of_id(text: str) -> str | None:
    """The same for an `id` as somebody may have written it; `None` where it names no model.

    A bare name is Ollama's, whatever files lie about where we happen to stand.
    """
    if not text or len(text) > LONGEST_ID:
        return None
    try:
        ref = ModelRef.parse(text)
        is_bare = ref.scheme == "file" and not text.startswith(("file:", "~")) and not os.path.isabs(text)
        if is_bare and not _is_url(text) and not text.lower().endswith(".gguf"):
            ref = ModelRef("ollama", text)
        return key_of(ref)
    except UsageError:
        return None


def _full_name(name: str) -> str:
    name = name.removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def _spelt(url: str, normalise: Callable[[str], str]) -> str:
    try:
        return shown(normalise(url))
    except UsageError:
        return shown(url)


def _is_url(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))
