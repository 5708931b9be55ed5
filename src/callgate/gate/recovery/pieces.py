"""What an answer's text consists of: words for the user, thinking, calls, and marks that belong to nobody's words.

The `raw` of all pieces in a row is the text as it came, character by character.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.vocabulary import Repair


class Text(msgspec.Struct, frozen=True):
    """Words for the user."""

    text: str

    @property
    def raw(self) -> str:
        return self.text


class Thinking(msgspec.Struct, frozen=True):
    """What the model says to itself; `raw` has the tags around it too."""

    text: str
    raw: str


class Found(msgspec.Struct, frozen=True):
    """A call of an offered tool. Where one block holds several, its text is the `raw` of the first."""

    name: str
    """The offered tool's own name."""
    arguments: Mapping[str, Any]
    raw: str
    format: str
    repairs: tuple[Repair, ...] = ()


class Mark(msgspec.Struct, frozen=True):
    """A tag or special token that is neither words nor a call: nobody has to see it."""

    raw: str


Piece = Text | Thinking | Found | Mark
