"""What a conversation is made of, as it is kept: one record a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from callgate.vocabulary import Message

CURRENT = 1


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", tag="conversation"):
    """The first line of a file."""

    version: int = CURRENT
    at: str


class Said(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", tag="message", omit_defaults=True):
    message: Message
    model: str | None = None
    """That said it."""
    at: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", tag="line", omit_defaults=True):
    """What the chat told the user in between: kept, shown and exported, but never sent to a model."""

    text: str
    kind: Literal["swap", "note"] = "note"
    model: str | None = None
    """In use from here on."""
    at: str = ""


class System(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", tag="system"):
    """The system message from here on; an empty one is none."""

    text: str


class TakenBack(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", tag="taken_back"):
    """So many messages before this line don't count any more; what the chat told stays."""

    messages: int


Item = Begun | Said | Line | System | TakenBack
Shown = Said | Line

_reader: msgspec.json.Decoder[Item] = msgspec.json.Decoder(Item)


def write_item(item: Item) -> bytes:
    return msgspec.json.encode(item) + b"\n"


def read_item(line: bytes) -> Item | None:
    """`None` for what isn't one, be it half a line or a newer callgate's."""
    try:
        return _reader.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def without_last(shown: Iterable[Shown], messages: int) -> list[Shown]:
    """What is left when so many messages are taken back: the lines between them stay."""
    left: list[Shown] = []
    for item in reversed(list(shown)):
        if messages > 0 and isinstance(item, Said):
            messages -= 1
        else:
            left.append(item)
    return left[::-1]
