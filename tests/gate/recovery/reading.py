"""Reads a text with the engine, whole or in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from callgate.gate.recovery import Format, Found, Mark, Piece, Recovery, Text, Thinking
from callgate.tools import Names
from callgate.vocabulary import Tool

WEATHER = Tool(
    "get_weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "exact": {"type": "boolean"}},
        "required": ["city"],
    },
)
TIME = Tool("get_time")
TOOLS = (WEATHER, TIME)
PARIS = [("get_weather", {"city": "Paris"})]


def pieces_of(
    text: str | Iterable[str],
    tools: Sequence[Tool] | None = TOOLS,
    formats: Sequence[Format] | None = None,
    starts_in: Literal["text", "thinking"] = "text",
) -> list[Piece]:
    """All pieces, neighbours of a kind joined."""
    recovery = Recovery(None if tools is None else Names(tools), formats, starts_in)
    found: list[Piece] = []
    for chunk in (text,) if isinstance(text, str) else text:
        found += recovery.feed(chunk)
    return joined([*found, *recovery.close()])


def calls_in(
    text: str | Iterable[str],
    tools: Sequence[Tool] | None = TOOLS,
    formats: Sequence[Format] | None = None,
    starts_in: Literal["text", "thinking"] = "text",
) -> list[tuple[str, dict[str, object]]]:
    pieces = pieces_of(text, tools, formats, starts_in)
    return [(piece.name, dict(piece.arguments)) for piece in pieces if isinstance(piece, Found)]


def words_in(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for piece in pieces:
        match (found[-1] if found else None, piece):
            case (Text() as before, Text()):
                found[-1] = Text(before.text + piece.text)
            case (Thinking() as before, Thinking()):
                found[-1] = Thinking(before.text + piece.text, before.raw + piece.raw)
            case (Mark() as before, Mark()):
                found[-1] = Mark(before.raw + piece.raw)
            case _:
                found.append(piece)
    return found


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
