"""Names of answers and of requests, no two alike. Nothing is opened by them, so they needn't be hard to guess."""

from __future__ import annotations

from contextvars import ContextVar
from itertools import count
from secrets import token_hex

_OURS = token_hex(8)
_numbers = count(1)


request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is answered, where its dialect names requests."""


def new_id() -> str:
    """Made without asking the system for chance: that takes longer than to write a short answer's frame."""
    return f"{_OURS}{next(_numbers):08x}"
