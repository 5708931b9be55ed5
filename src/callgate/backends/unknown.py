"""What a server has instead of the model that it was asked for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from callgate.vocabulary import NotFound

MOST_SHOWN = 5


def some_of(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_SHOWN]) + (" …" if len(names) > MOST_SHOWN else "")


def no_such_model(model: str, place: str, names: Sequence[str], *, hint_if_none: str) -> NotFound:
    """With the nearest of the models that there are."""
    near = difflib.get_close_matches(model, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    hint += f"it has: {some_of(names)}" if names else hint_if_none
    return NotFound(f"{place} has no model {model!r}", hint=hint)
