"""Texts that are to be embedded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, cast

from msgspec import Meta

from callgate.vocabulary import UsageError

MOST_TEXTS = 4_096
"""To embed in one request."""

_NoToken = Annotated[str | int | list[int], Meta(extra_json_schema={"type": "string"})]
TextsNoTokens = str | Annotated[list[_NoToken], Meta(min_length=1, max_length=MOST_TEXTS)]
Texts = str | Annotated[list[str], Meta(min_length=1, max_length=MOST_TEXTS)]


def texts_of(wanted: str | Sequence[object]) -> tuple[str, ...]:
    """Raises: UsageError, if they are tokens."""
    texts = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError("tokens can't be embedded here: 'input' has to be of texts", hint="send the texts themselves")
    return cast("tuple[str, ...]", texts)
