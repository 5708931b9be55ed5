"""Tools as clients define them: those that we know to offer, and those of other kinds, which are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from callgate.tools import read_encoded_tools, read_tools
from callgate.vocabulary import Tool

_SCHEMA = {"type": ["object", "boolean"]}
_KEYWORDS: dict[str, Any] = {
    "title": {"type": "string"},
    "description": {"type": "string"},
    "enum": {"type": "array"},
    "required": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "properties": {"type": "object", "additionalProperties": _SCHEMA},
    "items": _SCHEMA,
}
_TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"]
_PROPERTY = {**_SCHEMA, "properties": {**_KEYWORDS, "type": {"enum": _TYPES}}}
_UNSEEN = (
    r"\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Control and format characters, and ends of lines: no two languages have the same words for such classes."""
_NAME: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "pattern": f"^[^{_UNSEEN}]*[^\\s{_UNSEEN}][^{_UNSEEN}]*$",
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        **_KEYWORDS,
        "type": {"const": "object"},
        "properties": {"type": "object", "additionalProperties": _PROPERTY},
    },
}
OWN_TYPES = (None, "function")
"""Of tools that the client runs."""
ToolName = Annotated[str, Meta(description="Characters that can't be seen may not be in it.", extra_json_schema=_NAME)]
Parameters = Annotated[dict[str, Any], Meta(description="A JSON Schema of type object.", extra_json_schema=_PARAMETERS)]


def as_own(schema: str, *kinds: str, free: str = "") -> Meta:
    """For the document: of tools, those of the types `kinds` have a good name, and a good schema under `schema`; those
    of the type `free` a good name; and those that are `custom` one within that.
    """
    name: dict[str, Any] = {"function": {"type": "null"}, "name": msgspec.json.schema(ToolName)}
    other = {"type": "string", "not": {"enum": [*kinds, *filter(None, [free])]}}
    ways = [
        {"required": ["function"], "properties": {"function": {"type": "object"}}},
        {"required": ["name"], "properties": {**name, schema: msgspec.json.schema(Parameters | None)}},
        {"required": ["type"], "properties": {"function": {"type": "null"}, "type": other}},
    ]
    nested = {"name": {"type": "null"}, "type": {"const": "custom"}, "custom": {"type": "object"}}
    ways.append({"required": ["type", "custom"], "properties": {"function": {"type": "null"}, **nested}})
    if free:
        ways.append({"required": ["type", "name"], "properties": {**name, "type": {"const": free}}})
    return Meta(extra_json_schema={"anyOf": ways})


class FunctionDefinition(msgspec.Struct, frozen=True, omit_defaults=True):
    name: ToolName
    description: str | None = None
    parameters: Parameters | None = None


class ToolDefinition(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A tool that the client runs: a `function`. Without one, the same may stand here, as other dialects have it."""

    type: str | None = None
    """Those of another type are left out."""
    function: FunctionDefinition | None = None
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    input_schema: dict[str, Any] | None = None


class CustomDefinition(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool that takes a text as it is."""

    name: ToolName
    description: str | None = None
    format: dict[str, Any] | None = None


GivenTool = Annotated[ToolDefinition, as_own("parameters", "function")]


class OfferedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the client runs, in any of the known forms; or one of a kind that isn't known here."""

    type: str | None = None
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    input_schema: dict[str, Any] | None = None
    function: FunctionDefinition | None = None
    custom: CustomDefinition | None = None
    strict: bool | None = None
    format: dict[str, Any] | None = None
    """Of a tool that takes a text as it is: what may be in it."""
    tools: list[OfferedTool] | None = None
    """Of one that is a name for several."""

    @property
    def is_nested(self) -> bool:
        """Whether what it is stands under `custom`."""
        return self.type == "custom" and self.name is None and self.function is None and self.custom is not None

    def is_own(self, *kinds: str) -> bool:
        """Whether the client runs it: one of these types, or of none."""
        return self.function is not None or self.type is None or self.type in kinds

    def definition(self, schema: dict[str, Any] | None) -> dict[str, Any]:
        """As `read_tools` knows it; with `schema`, unless it is a `function`."""
        if self.function is not None:
            return {"type": "function", "function": msgspec.to_builtins(self.function)}
        return {"name": self.name, "description": self.description, "parameters": schema}


def tools_of(given: Sequence[ToolDefinition] | None) -> tuple[Tool, ...]:
    """Raises: UsageError, which names the tool that is no good."""
    if not given:
        return ()
    try:
        text = msgspec.json.encode(given)
    except (ValueError, OverflowError):  # half a character, or a number beyond all bounds
        return read_tools(msgspec.to_builtins(given))
    return read_encoded_tools(text)
