"""Which tools may be called and which must be, as clients of OpenAI and of Ollama say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from callgate.gateway.given.left_out import LeftOut
from callgate.gateway.given.tools import OWN_TYPES, FunctionDefinition, ToolDefinition, tools_of
from callgate.vocabulary import Notice, Tool


class NamedFunction(msgspec.Struct, frozen=True):
    name: str


class NamedTool(msgspec.Struct, frozen=True, tag_field="type", tag="function"):
    function: NamedFunction


class AllowedTool(msgspec.Struct, frozen=True):
    function: NamedFunction


class AllowedSet(msgspec.Struct, frozen=True):
    mode: Literal["auto", "required"]
    tools: list[AllowedTool]


class AllowedTools(msgspec.Struct, frozen=True, tag_field="type", tag="allowed_tools"):
    allowed_tools: AllowedSet


ToolChoice = Literal["auto", "none", "required"] | NamedTool | AllowedTools
FunctionChoice = Literal["auto", "none"] | NamedFunction
"""What it was once."""


class Offered(msgspec.Struct, frozen=True):
    tools: tuple[Tool, ...]
    """Those that may be called."""
    choice: str | None
    """Which of them must be."""
    notices: tuple[Notice, ...] = ()


def offered(
    tools: Sequence[ToolDefinition] | None,
    choice: ToolChoice | None,
    functions: Sequence[FunctionDefinition] | None = None,
    function: FunctionChoice | None = None,
) -> Offered:
    """Tools, or else the functions that tools were once. Raises: UsageError, which names what is no good."""
    if functions and not tools:
        tools = [ToolDefinition(function=each) for each in functions]
        choice = NamedTool(function) if isinstance(function, NamedFunction) else function
    given = tools or ()
    own = [tool for tool in given if tool.type in OWN_TYPES]
    found = chosen(choice, tools_of(own))
    return found if len(own) == len(given) else _without_foreign(found, given)


def _without_foreign(found: Offered, given: Sequence[ToolDefinition]) -> Offered:
    left_out = LeftOut()
    for tool in given:
        if tool.type not in OWN_TYPES:
            left_out.tool(tool.name or (tool.function.name if tool.function else ""), tool.type)
    wanted = found.choice
    names = {tool.name for tool in found.tools}
    if wanted not in (None, "auto", "none") and (wanted not in names if wanted != "required" else not names):
        left_out.choice(wanted)
        wanted = "auto"
    return Offered(found.tools, wanted, left_out.notices)


def chosen(choice: ToolChoice | None, tools: tuple[Tool, ...]) -> Offered:
    match choice:
        case None | str():
            return Offered(tools, choice)
        case NamedTool(NamedFunction(name)):
            return Offered(tools, name)
        case AllowedTools(AllowedSet(mode, allowed)):
            names = {tool.function.name for tool in allowed}
            return Offered(tuple(tool for tool in tools if tool.name in names), mode)
