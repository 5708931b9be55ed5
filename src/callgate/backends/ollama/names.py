"""How Ollama lists its models and spells their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.backends.unknown import no_such_model
from callgate.vocabulary import NotFound


def entries(answer: object) -> list[Mapping[str, Any]]:
    models = answer.get("models") if isinstance(answer, dict) else None
    return [entry for entry in models if isinstance(entry, dict)] if isinstance(models, list) else []


def names(answer: object) -> list[str]:
    return [name for entry in entries(answer) if (name := text(entry, "name")) is not None]


def entry_for(answer: object, model: str) -> Mapping[str, Any] | None:
    wanted = full_name(model)
    for entry in entries(answer):
        if wanted in (full_name(text(entry, "name") or ""), full_name(text(entry, "model") or "")):
            return entry
    return None


def full_name(model: str) -> str:
    """One spelling for all that Ollama takes for the same: its registry, its library and `latest` may be left out."""
    name = model.lower().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def text(entry: Mapping[str, Any] | None, key: str) -> str | None:
    value = entry.get(key) if entry else None
    return value if isinstance(value, str) else None


def not_there(model: str, place: str, known: list[str]) -> NotFound:
    return no_such_model(model, place, known, hint_if_none=f"`ollama pull {model}` fetches it")
