"""JSON within text, also within JSON: what it encodes, and what that is called in a report."""

from __future__ import annotations

from typing import Any

import msgspec

from callgate.tools.loose_json import read_loosely

MOST_LAYERS = 3


class Decoded(msgspec.Struct, frozen=True):
    value: Any
    layers: int
    """How often it was encoded."""
    flaws: tuple[str, ...]
    """What had to be overlooked."""

    @property
    def rule(self) -> str:
        return f"malformed-json: {', '.join(self.flaws)}" if self.flaws else "encoded-json"


def decoded(text: str) -> Decoded:
    """What a text of JSON encodes, also if that is another text of JSON; the text itself, if it is none."""
    value: object = text
    flaws: list[str] = []
    layers = 0
    while isinstance(value, str) and layers < MOST_LAYERS:
        if layers and value.lstrip()[:1] not in ("{", "[", '"', "'", "`"):
            break  # a text that was encoded once, and not a number in a text
        loose = read_loosely(value)
        if loose is None:
            break
        value = loose.value
        flaws += loose.rules
        layers += 1
    return Decoded(value, layers, tuple(dict.fromkeys(flaws)))
