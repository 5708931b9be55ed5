"""What a setting can be: the types, each with words for what it takes, and texts that aren't shown."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

_CREDENTIALS = re.compile(r"://[^/?#\s]*@")


class Secret:
    """A text that shows itself only when it is asked to."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def without_password(text: str) -> str:
    """`text` with what stands for a user and a password in a URL left out."""
    return _CREDENTIALS.sub("://…@", text)


class About(msgspec.Struct, frozen=True):
    """What a setting is for, and the foreign variables that set it too."""

    help: str
    env: tuple[str, ...] = ()


class Expects(msgspec.Struct, frozen=True):
    """What a type of setting takes, in words."""

    words: str
    several: bool = False
    """Whether it takes several, with commas; in the file they may be a list."""


Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**9), Expects("a number of seconds, 0 or more")]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=4096), Expects("a text")]
Url = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s]+$", max_length=4096), Expects("a URL, http:// or https://")]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**40), Expects("a whole number, 0 or more")]
Flag = Annotated[bool, Expects("true or false")]
Token = Annotated[Secret | None, Expects("a token: plain letters, without spaces")]
