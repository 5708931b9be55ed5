"""A model that discovery came across."""

from __future__ import annotations

import os

import msgspec

from callgate.detect import BOXED_FILE
from callgate.vocabulary import ModelRef

TINY = ModelRef("tiny", "tiny")


class FoundModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is there, before anybody has looked at it."""

    ref: ModelRef
    name: str
    """What people call it: a file's path is its ref, and nobody would call it that."""
    backend: str
    """Who would run it: `ollama`, `openai`, or our engine, `llamacpp`."""
    place: str
    """Where it is, in words."""
    endpoint: str | None = None
    """Its server, without any password."""
    size: int | None = None
    """In bytes, all its parts together."""
    digest: str | None = None
    """What an Ollama knows it by."""
    modified: float | None = None
    """In seconds since the epoch."""


def found_in_the_box() -> FoundModel:
    is_there = os.path.isfile(BOXED_FILE)
    return FoundModel(
        ref=TINY,
        name="tiny",
        backend="llamacpp",
        place="in the box: for demonstrations and tests",
        size=os.path.getsize(BOXED_FILE) if is_there else None,
        modified=os.path.getmtime(BOXED_FILE) if is_there else None,
    )
