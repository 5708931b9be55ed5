"""What the engine is to load, and how: what a parent tells its child."""

from __future__ import annotations

import msgspec


class EngineSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One model to load. Two that are equal can share an engine."""

    path: str
    name: str
    """What to call it."""
    template: str | None = None
    """A chat template instead of its own ones."""
    context: int
    threads: int
    gpu_layers: int | None = None
    flash_attention: bool | None = None
    kv_type: str | None = None
    projector: str | None = None
    embedding: bool = False
    pooling: str | None = None
    """Of an embedding, where the model doesn't say: `mean`, `cls` or `last`."""


class Order(msgspec.Struct, frozen=True):
    """The first line that a child reads."""

    spec: EngineSpec
    key: str
    """What a client has to know."""
    parent: int


class Report(msgspec.Struct, frozen=True):
    """The line that a child writes."""

    url: str | None = None
    error: str | None = None
