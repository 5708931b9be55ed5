"""How a chat puts names, sizes and times."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from callgate.chat.cleaning import on_one_line
from callgate.vocabulary import ModelRef
from callgate.wire import shown

LONGEST_NAME = 60
MOST_NAMED = 8
_CREDENTIALS = re.compile(r"://[^/@\s]+@")
_FIELD = re.compile(r" \(supports_\w+=\w+\)")


def name_of(ref: ModelRef) -> str:
    """What people call it."""
    name = os.path.basename(ref.name) if ref.scheme in ("file", "scripted") else ref.name
    name = on_one_line(name or _CREDENTIALS.sub("://…@", str(ref)))
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def as_kept(ref: ModelRef) -> str:
    """How it is written down, and told to programs: without anything secret, and so that it is found from anywhere."""
    if ref.scheme in ("file", "scripted"):
        is_url = "://" in ref.name
        return str(ModelRef(ref.scheme, shown(ref.name) if is_url else os.path.abspath(ref.name)))
    named = ModelRef(ref.scheme, ref.name, shown(ref.endpoint)) if ref.endpoint else ref
    return _CREDENTIALS.sub("://", str(named))


def in_thousands(tokens: int) -> str:
    """4096 is 4k, as people say, and so is 4000."""
    if tokens < 1000:
        return str(tokens)
    if tokens >= 1_000_000:
        return f"{tokens / (1 << 20 if tokens % 1024 == 0 else 1_000_000):.3g}M"
    return f"{tokens / 1024:.3g}k" if tokens % 1024 == 0 else f"{tokens / 1000:.0f}k"


def why_in_short(reason: str) -> str:
    """Without the names of fields."""
    return on_one_line(_FIELD.sub("", reason)).rstrip(".")


def seconds_of(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: max(0, longest - 1)]}…"


def some_of(names: Sequence[str], what: str) -> str:
    """All of a few; of many, how many there are and how they begin."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{len(names):,} {what}: {', '.join(names[: MOST_NAMED - 1])} …"


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
