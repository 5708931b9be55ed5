"""What others are told of the trace that a request belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar

trace_headers: ContextVar[Mapping[str, str] | None] = ContextVar("trace_headers", default=None)
"""Set by our own server for all that it asks of others while it answers somebody, if it is traced."""
