"""Which callgates a request has come through, so that one that comes back to where it was is recognised."""

from __future__ import annotations

from contextvars import ContextVar

HOPS_HEADER = "X-Callgate-Hops"

hops: ContextVar[tuple[str, ...]] = ContextVar("hops", default=())
"""Set by our own server for all that it asks of others while it answers somebody."""


def hops_of(text: str) -> tuple[str, ...]:
    """What such a header says."""
    return tuple(part for each in text.split(",") if (part := each.strip()))
