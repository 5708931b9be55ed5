"""JSON within text, also within JSON: what it encodes, and what that is called in a report."""

from __future__ import annotations

from typing import Any

import msgspec

from callgate.tools.loose_json import Loose, malformed, read_loosely

MOST_LAYERS = 3
_OPENING = ("{", "[", '"', "'", "`")
"""How an object, an array or a text starts; a number in a text may well be a text."""


class Decoded(msgspec.Struct, frozen=True):
    value: Any
    layers: int
    """How often it was encoded."""
    flaws: tuple[str, ...]
    """What had to be overlooked."""

    @property
    def rule(self) -> str:
        return malformed(self.flaws) if self.flaws else "encoded-json"


def decoded(text: str) -> Decoded:
    """What a text of JSON encodes, also if that is another text of JSON; the text itself, if it is none."""
    loose = read_loosely(text)
    return Decoded(text, 0, ()) if loose is None else unfolded(loose)


def unfolded(loose: Loose) -> Decoded:
    """What was read, and what that encodes if it is a text of JSON itself."""
    value, flaws, layers = loose.value, list(loose.rules), 1
    while isinstance(value, str) and layers < MOST_LAYERS and value.lstrip()[:1] in _OPENING:
        inner = read_loosely(value)
        if inner is None:
            break
        value = inner.value
        flaws += inner.rules
        layers += 1
    return Decoded(value, layers, tuple(dict.fromkeys(flaws)))
