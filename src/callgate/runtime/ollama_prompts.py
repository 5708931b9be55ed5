"""What an Ollama does to a request before the model's template sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from callgate.runtime.conversation import read_messages
from callgate.tools import write_tools
from callgate.vocabulary import ChatRequest, Message, Tool, UsageError

_OF_THE_WHOLE = ("type", "$defs", "items", "required", "properties")
_OF_A_PROPERTY = ("anyOf", "type", "items", "description", "enum", "properties", "required")
"""The only parts of a schema that Ollama keeps, in the order in which it writes them."""


def as_ollama_hands_it_on(request: ChatRequest, show: Mapping[str, Any]) -> ChatRequest:
    """`request` with what the model's own file adds to every conversation, by its answer `show` to `/api/show`."""
    messages = (*_own_messages(show.get("messages")), *request.messages)
    system = show.get("system")
    if isinstance(system, str) and system and not (request.messages and request.messages[0].role == "system"):
        messages = (Message(role="system", content=system), *messages)
    tools = tuple(_tool(written["function"]) for written in write_tools(request.tools, "ollama"))
    return msgspec.structs.replace(request, messages=messages, tools=tools)


def _own_messages(listed: object) -> tuple[Message, ...]:
    try:
        return read_messages(listed) if isinstance(listed, list) else ()
    except UsageError:
        return ()


def _tool(function: Mapping[str, Any]) -> Tool:
    return Tool(function["name"], function["description"], _ordered(function["parameters"], _OF_THE_WHOLE))


def _ordered(schema: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    kept = {key: schema[key] for key in order if key in schema}
    if isinstance(properties := kept.get("properties"), Mapping):
        kept["properties"] = {
            name: _ordered(inner, _OF_A_PROPERTY) if isinstance(inner, Mapping) else inner
            for name, inner in properties.items()
        }
    if isinstance(choices := kept.get("anyOf"), list):
        kept["anyOf"] = [_ordered(one, _OF_A_PROPERTY) if isinstance(one, Mapping) else one for one in choices]
    for key in ("$defs", "items"):
        if key in kept:
            kept[key] = _alphabetical(kept[key])
    return {key: value for key, value in kept.items() if key == "properties" or value not in ([], "")}


def _alphabetical(value: Any) -> Any:
    """As Go writes what it has no type for."""
    if isinstance(value, Mapping):
        return {key: _alphabetical(value[key]) for key in sorted(value)}
    return [_alphabetical(inner) for inner in value] if isinstance(value, list) else value
