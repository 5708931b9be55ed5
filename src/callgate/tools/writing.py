"""Writes tools in the forms in which others take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from callgate.tools.kept import Kept
from callgate.tools.simplifying import simplified, with_plain_root
from callgate.vocabulary import Tool, UsageError

Form = Literal["openai", "openai_functions", "openai_responses", "ollama", "anthropic", "mcp"]
Written = dict[str, Any]

_written_before: Kept[tuple[Written, ...]] = Kept()
_encoded_before: Kept[msgspec.Raw] = Kept()


def write_tools(tools: Iterable[Tool], form: Form) -> list[Written]:
    """The tools as `form` has them.

    The same tools are written only once: the list is the caller's, but what is in it must not be changed.

    Raises: UsageError, if there is no such form.
    """
    write = _FORMS.get(form)
    if write is None:
        raise UsageError(f"there is no form {form!r} of tools", hint=f"one of {', '.join(_FORMS)}")
    given = tuple(tools)
    return list(_written_before.of(given, form, lambda: tuple(write(tool) for tool in given)))


def written_tools(tools: tuple[Tool, ...], form: Form) -> msgspec.Raw:
    """The same as JSON, made once for the same tools. Raises: as `write_tools` does."""
    return _encoded_before.of((tools,), form, lambda: msgspec.Raw(msgspec.json.encode(write_tools(tools, form))))


def _function(tool: Tool) -> Written:
    function: Written = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.parameters
    return function


def _openai(tool: Tool) -> Written:
    return {"type": "function", "function": _function(tool)}


def _openai_responses(tool: Tool) -> Written:
    # Unless told otherwise, this API holds schemas to rules of its own that few of them keep.
    return {"type": "function", **_function(tool), "strict": False}


def _ollama(tool: Tool) -> Written:
    # Without a whole object schema, Ollama answers with status 400.
    function = {"name": tool.name, "description": tool.description, "parameters": simplified(tool.parameters)}
    return {"type": "function", "function": function}


def _anthropic(tool: Tool) -> Written:
    return _with_schema(tool, "input_schema", with_plain_root(tool.parameters))


def _mcp(tool: Tool) -> Written:
    return _with_schema(tool, "inputSchema", tool.parameters)


def _with_schema(tool: Tool, key: str, schema: Mapping[str, Any]) -> Written:
    written: Written = {"name": tool.name}
    if tool.description:
        written["description"] = tool.description
    written[key] = schema
    return written


_FORMS: Mapping[Form, Callable[[Tool], Written]] = {
    "openai": _openai,
    "openai_functions": _function,
    "openai_responses": _openai_responses,
    "ollama": _ollama,
    "anthropic": _anthropic,
    "mcp": _mcp,
}
