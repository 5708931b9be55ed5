"""What requests of agents are made of besides text: pictures, tools of every kind, and what nobody here understands.

Agents are written for servers that have more than we do. What can't be met is left out and named in a notice.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from callgate.gateway.given import FunctionDefinition, Parameters, ToolName
from callgate.vocabulary import Image

MOST_MESSAGES = 100_000
"""Or items, of one request."""
_DATA_URL = "data:"

Part = Annotated[
    dict[str, Any],
    Meta(description="What is of a type that isn't known is left out, and a notice names it."),
]


def picture(data: object, media_type: object = None) -> Image | None:
    """A picture in base64, or as a data: URL. Pictures elsewhere aren't fetched."""
    if not isinstance(data, str):
        return None
    if data.startswith(_DATA_URL):
        head, _, data = data.partition(",")
        media_type = head.removeprefix(_DATA_URL).partition(";")[0]
    try:
        content = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return (
        Image(content, media_type if isinstance(media_type, str) and media_type else "image/png") if content else None
    )


class OfferedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the client runs, in any of the known forms; or one that only its maker's server can run."""

    type: str | None = None
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    input_schema: dict[str, Any] | None = None
    function: FunctionDefinition | None = None
    strict: bool | None = None
    format: dict[str, Any] | None = None
    """Of a tool that takes a text as it is: what may be in it."""
    tools: list[OfferedTool] | None = None
    """Of one that is a name for several."""

    def is_own(self, *kinds: str) -> bool:
        """Whether the client runs it: one of these types, or of none."""
        return self.function is not None or self.type is None or self.type in kinds

    def definition(self, schema: dict[str, Any] | None) -> dict[str, Any]:
        """As `read_tools` knows it; with `schema`, unless it is a `function`."""
        if self.function is not None:
            return {"type": "function", "function": msgspec.to_builtins(self.function)}
        return {"name": self.name, "description": self.description, "parameters": schema}


def as_own(schema: str, *kinds: str, free: str = "") -> Meta:
    """For the document: of tools, those of the types `kinds` have a good name, and a good schema under `schema`; those
    of the type `free` a good name.
    """
    name: dict[str, Any] = {"function": {"type": "null"}, "name": msgspec.json.schema(ToolName)}
    other = {"type": "string", "not": {"enum": [*kinds, *filter(None, [free])]}}
    ways = [
        {"required": ["function"], "properties": {"function": {"type": "object"}}},
        {"required": ["name"], "properties": {**name, schema: msgspec.json.schema(Parameters | None)}},
        {"required": ["type"], "properties": {"function": {"type": "null"}, "type": other}},
    ]
    if free:
        ways.append({"required": ["type", "name"], "properties": {**name, "type": {"const": free}}})
    return Meta(extra_json_schema={"anyOf": ways})
