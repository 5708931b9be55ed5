"""What was found out about a model, raw: no conclusion is drawn yet."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class ServerKind(StrEnum):
    OLLAMA = "ollama"
    LLAMA_SERVER = "llama-server"
    LM_STUDIO = "lm-studio"
    VLLM = "vllm"
    SGLANG = "sglang"
    CALLGATE = "callgate"
    OPENAI = "openai-compatible"


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one look at a model brought back.

    A part that was not seen is `None` (or empty); a part that was seen and is empty stays empty:
    `templates={}` with a `header` means that the file has no chat template.
    """

    name: str
    templates: Mapping[str, str] | None = None
    """Chat templates by name, `default` and perhaps `tool_use` among them; `None` where they can't be seen."""
    tokens: Mapping[str, str] = {}
    """Special tokens that templates print: `bos_token`, `eos_token` …"""
    header: Mapping[str, Any] | None = None
    """A GGUF file's metadata."""
    parameter_count: int | None = None
    """Counted from the tensors' shapes."""

    server: ServerKind | None = None
    server_version: str | None = None
    endpoint: str | None = None
    digest: str | None = None
    answer: Mapping[str, Any] | None = None
    """What the server said about the model: `/api/show`, `/props`, or its entry in `/v1/models`."""
    listing: Mapping[str, Any] | None = None
    """The model's entry in the server's list of models."""
    running: Mapping[str, Any] | None = None
    """The model's entry in the server's list of loaded models."""

    failure: str | None = None
    """Why the server gave no answer. What is concluded then is a guess."""
    at: float = 0.0
