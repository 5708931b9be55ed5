"""What Ollama's clients are told of models: each of them, and what is loaded."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from callgate.gateway.dialect import Loaded, ServedModel
from callgate.vocabulary import Capabilities, ServerKind

_FOR_EVER = 292 * 365 * 86_400.0
"""Seconds, as Ollama writes of what is never unloaded."""


def moment(at: float | None) -> str:
    return datetime.fromtimestamp(at or 0, UTC).isoformat().replace("+00:00", "Z")


def listed(model: ServedModel) -> dict[str, Any]:
    found = model.stocked.found
    return {
        "name": model.id,
        "model": model.id,
        "modified_at": moment(found.modified),
        "size": found.size or 0,
        "digest": found.digest or _digest(str(found.ref)),
        "details": _details(model),
        "capabilities": _capabilities(model),
    }


def details_of(model: ServedModel) -> object:
    known = model.stocked.capabilities
    facts = model.facts
    if facts and facts.server is ServerKind.OLLAMA and facts.answer:
        shown = {**facts.answer, "capabilities": _capabilities(model)}
    else:
        templates = (facts.templates if facts else None) or {}
        shown = {
            "modelfile": f"FROM {model.id}\n",
            "parameters": "",
            "template": templates.get("default", ""),
            "details": _details(model),
            "model_info": _info(known) if known else {},
            "modified_at": moment(model.stocked.found.modified),
            "capabilities": _capabilities(model),
        }
    return {**shown, "callgate": model.as_json()}


def _details(model: ServedModel) -> dict[str, Any]:
    known = model.stocked.capabilities or Capabilities(name=model.id)
    family = known.family or known.architecture or ""
    details = {
        "parent_model": "",
        "format": "gguf" if model.stocked.found.backend in ("ollama", "llamacpp") else "",
        "family": family,
        "families": [family] if family else [],
        "parameter_size": known.parameter_size or "",
        "quantization_level": known.quantization or "",
    }
    return details if known.context_length is None else {**details, "context_length": known.context_length}


def _info(known: Capabilities) -> dict[str, Any]:
    architecture = known.architecture or "unknown"
    told = {
        "general.architecture": known.architecture,
        "general.parameter_count": known.parameter_count,
        f"{architecture}.context_length": known.context_length,
    }
    return {name: value for name, value in told.items() if value is not None}


def _capabilities(model: ServedModel) -> list[str]:
    """What a client gets here, which may be more than the model can do by itself."""
    known = model.stocked.capabilities or Capabilities(name=model.id)
    if known.is_embedding:
        return ["embedding"]
    told = {"tools": model.mode != "off", "vision": known.supports_vision, "thinking": known.supports_thinking}
    return ["completion", *(word for word, can in told.items() if can)]


def running(loaded: Mapping[str, Loaded], of_ollama: Sequence[Mapping[str, Any]]) -> object:
    until = moment(time.time() + _FOR_EVER)
    ours = [
        {
            "name": name,
            "model": name,
            "size": model.bytes,
            "digest": _digest(name),
            "details": {"format": "gguf"},
            "expires_at": until,
            "size_vram": 0,
            "context_length": model.context,
        }
        for name, model in loaded.items()
    ]
    return {"models": [*of_ollama, *ours]}


def _digest(name: str) -> str:
    """The `ollama` command cuts twelve letters off each, and fails where there are none."""
    return sha256(name.encode("utf-8", "replace")).hexdigest()
