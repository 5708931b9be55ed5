"""Reading what strangers send: every value may be of any type and any size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

_LONGEST_WORD = 200
_LONGEST_QUOTE = 80
_MOST_WORDS = 256
_LARGEST = 2**53
"""What JSON readers everywhere agree on; no context, count or size comes near it."""


def mapping(value: object) -> Mapping[str, object]:
    """`value` if it is a JSON object, an empty one otherwise."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def word(value: object) -> str | None:
    """A short printable text, without the space around it."""
    if not isinstance(value, str) or len(value) > _LONGEST_WORD:
        return None
    value = value.strip()
    return value if value and value.isprintable() else None


def words(value: object) -> frozenset[str] | None:
    """The words in a list, or `None` where there is no list."""
    if not isinstance(value, list | tuple):
        return None
    return frozenset(item for item in value[:_MOST_WORDS] if isinstance(item, str))


def number(value: object) -> int | None:
    """A positive whole number, also where it was sent as `8.0`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= _LARGEST else None


def flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def quoted(text: str) -> str:
    """`text` in quotes, safe to print and not too long."""
    return repr(text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…")
