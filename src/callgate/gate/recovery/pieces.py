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
    """A call of an offered tool."""

    name: str
    """The offered tool's own name."""
    arguments: Mapping[str, Any]
    raw: str
    format: str
    repairs: tuple[Repair, ...] = ()
    sent: str = ""
    """What the model sent for this call; for one of several in a block, its own part, or the block if none is its."""


class Mark(msgspec.Struct, frozen=True):
    """A tag or special token that is neither words nor a call: nobody has to see it."""

    raw: str


class Half(msgspec.Struct, frozen=True):
    """Before a call that was begun and never ended. What follows is given as the words that it may be; where the answer
    was cut off, it is none.
    """

    @property
    def raw(self) -> str:
        return ""


Piece = Text | Thinking | Found | Mark | Half
