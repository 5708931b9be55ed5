"""A whole answer at once: the calls in it, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from callgate.gate.recovery.engine import Recovery
from callgate.gate.recovery.formats import FORMATS
from callgate.gate.recovery.pieces import Found, Piece, Text, Thinking
from callgate.gate.recovery.shapes import Format
from callgate.tools import Names, new_call_id
from callgate.vocabulary import Repair, Tool, ToolCall, UsageError


class Recovered(msgspec.Struct, frozen=True):
    """What an answer's text turned out to be."""

    content: str
    thinking: str
    calls: tuple[ToolCall, ...]
    repairs: tuple[Repair, ...]
    format: str | None
    """That of the first call."""


def recover(
    text: str | Iterable[str],
    tools: Iterable[Tool | Mapping[str, Any] | Callable[..., object]] | None,
    *,
    format: str = "auto",  # noqa: A002 – the option's name
    starts_in: Literal["text", "thinking"] = "text",
    repair: bool = True,
) -> Recovered:
    """The calls of `tools` in an answer that came as text, whole or in pieces.

    `tools`: in any of the forms that `Model.ask` takes; None, if every name counts as offered. `format`: a name of
    `callgate recover --list-formats`, if it is known. `starts_in`: `thinking`, if the prompt has opened it. `repair`:
    whether arguments are made to fit; what had to be mended to read a call at all is listed either way.

    Raises: UsageError, if there is no such format.
    """
    offered = None if tools is None else tuple(_tool(tool) for tool in tools)
    recovery = Recovery(None if offered is None else Names(offered), formats_called(format), starts_in, mends=repair)
    pieces: list[Piece] = []
    for chunk in (text,) if isinstance(text, str) else text:
        pieces += recovery.feed(chunk)
    pieces += recovery.close()
    schemas = {tool.name: tool.parameters for tool in offered or ()}
    return _recovered(pieces, schemas if repair else {})


def _tool(given: Tool | Mapping[str, Any] | Callable[..., object]) -> Tool:
    from callgate.tools import read_tools, tool_of

    if isinstance(given, Tool):
        return given
    return read_tools([given])[0] if isinstance(given, Mapping) else tool_of(given)


def formats_called(name: str) -> Sequence[Format] | None:
    """The formats to try for `auto` (all), or the one of that name.

    Raises: UsageError.
    """
    if name == "auto":
        return None
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}", hint="`callgate recover --list-formats` shows all")
    return (FORMATS[name],)


def _recovered(pieces: Sequence[Piece], schemas: Mapping[str, Mapping[str, Any]]) -> Recovered:
    found = [piece for piece in pieces if isinstance(piece, Found)]
    calls = tuple(_call(piece, schemas.get(piece.name)) for piece in found)
    return Recovered(
        content="".join(piece.text for piece in pieces if isinstance(piece, Text)),
        thinking="".join(piece.text for piece in pieces if isinstance(piece, Thinking)),
        calls=calls,
        repairs=tuple(repair for call in calls for repair in call.repairs),
        format=found[0].format if found else None,
    )


def _call(found: Found, schema: Mapping[str, Any] | None) -> ToolCall:
    arguments: Mapping[str, Any] = found.arguments
    repairs: tuple[Repair, ...] = found.repairs
    problem = None
    if schema is not None:
        from callgate.tools import repair

        mended = repair(dict(arguments), schema)
        if isinstance(mended.arguments, Mapping):
            arguments, repairs = mended.arguments, (*repairs, *mended.repairs)
            problem = " ".join(mended.errors) or None
    return ToolCall(new_call_id(), found.name, arguments, found.sent, repairs, problem)
