"""Reads tools in the forms in which people have them: OpenAI's, Ollama's, MCP's, Anthropic's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.vocabulary import Tool, UsageError

MOST_TOOLS = 10_000
_SCHEMA_KEYS = ("parameters", "inputSchema", "input_schema")
_FORMS = (
    '[{"type": "function", "function": {"name": …, "parameters": …}}], [{"name": …, "parameters": …}] '
    'or {"tools": [{"name": …, "inputSchema": …}]}'
)


def read_tools(content: object) -> tuple[Tool, ...]:
    """The tools in `content`, which is a list of them, or an object that has the list under `tools`.

    Raises: UsageError, which names the tool that is no good.
    """
    entries = content.get("tools") if isinstance(content, dict) else content
    if not isinstance(entries, list) or len(entries) > MOST_TOOLS:
        raise UsageError("that is no list of tools", hint=f"write {_FORMS}")
    tools = tuple(_read(entry, number) for number, entry in enumerate(entries, start=1))
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            raise UsageError(f"there are two tools called {tool.name!r}")
        seen.add(tool.name)
    return tools


def _read(entry: object, number: int) -> Tool:
    if not isinstance(entry, dict):
        raise UsageError(f"tool {number} is no object", hint=f"write {_FORMS}")
    function = entry.get("function") if entry.get("type") == "function" else None
    definition: Mapping[str, Any] = function if isinstance(function, dict) else entry
    name = definition.get("name")
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"tool {number} has no name")
    description = definition.get("description") or ""
    if not isinstance(description, str):
        raise UsageError(f"the description of tool {name!r} is no text")
    schema = next((definition[key] for key in _SCHEMA_KEYS if definition.get(key) is not None), None)
    if schema is None:
        return Tool(name, description)
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise UsageError(f"the parameters of tool {name!r} are no JSON Schema of type object")
    return Tool(name, description, {"type": "object", "properties": {}, **schema})
