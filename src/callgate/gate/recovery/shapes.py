"""What a format is: where calls are in the text, and which grammar they follow there."""

from __future__ import annotations

import msgspec


class Tags(msgspec.Struct, frozen=True):
    """The tags that a call and its parameters stand in. Names and other attributes follow the opening ones."""

    call: str
    call_end: tuple[str, ...]
    parameter: tuple[str, ...]
    parameter_end: tuple[str, ...]
    head_end: str = ">"
    cdata: bool = False
    """Whether a value may stand in a section of character data."""


class Block(msgspec.Struct, frozen=True):
    """One way in which a format writes a call: what stands before it, the grammar, what stands behind it."""

    open: tuple[str, ...]
    grammar: str
    """A name in `grammars`."""
    close: tuple[str, ...] = ()
    tags: Tags | None = None
    between: tuple[str, ...] = ()
    """What stands between a name and its arguments."""
    joined: bool = False
    """Whether the arguments may also follow the name with nothing between."""
    quotes: tuple[str, ...] = ()
    """What stands around texts instead of quotes."""
    keyed: bool = False
    """Whether `{"get_weather": {…}}` is a call."""
    numbered: bool = False
    """Whether a name must have a number behind it, as in `get_weather:0`."""
    strict: bool = False
    """Whether it is a call only if its arguments fit the tool."""


class Format(msgspec.Struct, frozen=True, eq=False):
    """How a family of models writes calls. Each is known by identity: comparing would cost more than reading by it."""

    name: str
    blocks: tuple[Block, ...] = ()
    sections: tuple[tuple[str, str], ...] = ()
    """What stands around several calls."""
    bare: tuple[str, ...] = ()
    """Calls that nothing announces: `json`, `pythonic`, `named`, `fenced`."""
    thinking: tuple[tuple[str, str], ...] = (("<think>", "</think>"),)
    inline: bool = False
    """Whether bare calls may stand within a line."""
    channels: bool = False
    """Whether headers say whom a part of the answer is for."""
    framed: bool = False
    """Whether `blocks` are calls only in a part that is for a tool."""
    marks: tuple[str, ...] = ()
    """Tokens that are nobody's words."""
    markers: tuple[str, ...] = ()
    """A template that has all of these writes calls so."""
    families: tuple[str, ...] = ()
    """What the names of such families begin with."""
    example: str = ""
    """A call, as the format writes it, for people."""
