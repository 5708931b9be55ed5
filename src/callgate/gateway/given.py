"""Messages and tools as clients of either dialect write them, as far as `read_messages` and `read_tools` know them.

What is said of texts under `extra_json_schema` is what those two hold them to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from callgate.gateway.left_out import LeftOut
from callgate.runtime import read_messages
from callgate.tools import read_encoded_tools, read_tools
from callgate.vocabulary import Message, Notice, Tool, UsageError

_BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)"
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

MOST_TEXTS = 4_096
"""To embed in one request."""

_NO_TIME = re.compile(r"(?:0+(?:\.0*)?(?:ns|us|µs|μs|ms|s|m|h))+|0+(?:\.0*)?", re.ASCII)
"""Zero, as a number or as Go writes spans of time."""

# What there is none of here: told in the document, refused by the readers with a reason.
One = Annotated[int, Meta(extra_json_schema={"const": 1})]
NoText = Annotated[str, Meta(extra_json_schema={"maxLength": 0})]
No = Annotated[bool, Meta(extra_json_schema={"const": False})]
Zero = Annotated[int, Meta(extra_json_schema={"const": 0})]
OneText = Annotated[list[str], Meta(extra_json_schema={"minItems": 1, "maxItems": 1})]

_NoToken = Annotated[str | int | list[int], Meta(extra_json_schema={"type": "string"})]
TextsNoTokens = str | Annotated[list[_NoToken], Meta(min_length=1, max_length=MOST_TEXTS)]
Texts = str | Annotated[list[str], Meta(min_length=1, max_length=MOST_TEXTS)]
_UNSEEN = (
    r"\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Control and format characters, and ends of lines: no two languages have the same words for such classes."""
Picture = Annotated[
    str,
    Meta(
        description="A picture in base64, or as a data: URL. Pictures elsewhere aren't fetched.",
        extra_json_schema={"pattern": f"^(?:data:[^,]*,)?{_BASE64}$"},
    ),
]
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
ToolName = Annotated[str, Meta(description="Characters that can't be seen may not be in it.", extra_json_schema=_NAME)]
Parameters = Annotated[dict[str, Any], Meta(description="A JSON Schema of type object.", extra_json_schema=_PARAMETERS)]


class TextPart(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class ImageUrl(msgspec.Struct, frozen=True):
    url: Picture


class ImagePart(msgspec.Struct, frozen=True, tag_field="type", tag="image_url"):
    image_url: ImageUrl


class CalledFunction(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    arguments: (
        Annotated[str | dict[str, Any], Meta(description="An object, or one written as a text of JSON.")] | None
    ) = None


class GivenCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call of an answer that was given before."""

    function: CalledFunction
    id: str | int | None = None


class GivenMessage(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One message of the conversation so far."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart | ImagePart] | None = None
    images: list[Picture] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    thinking: str | None = None
    tool_calls: list[GivenCall] | None = None
    function_call: Annotated[CalledFunction, Meta(description="What `tool_calls` were once.")] | None = None
    tool_call_id: Annotated[str | int, Meta(description="Of a tool's message: the call that it answers.")] | None = None
    name: str | None = None
    tool_name: Annotated[str, Meta(description="Of a tool's message: the tool.")] | None = None


class FunctionDefinition(msgspec.Struct, frozen=True, omit_defaults=True):
    name: ToolName
    description: str | None = None
    parameters: Parameters | None = None


class ToolDefinition(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A tool that the client runs: a `function`. Without one, the same may stand here, as other dialects have it."""

    type: str | None = None
    """Those of another type only their maker's server can run: they are left out."""
    function: FunctionDefinition | None = None
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    input_schema: dict[str, Any] | None = None

    @property
    def is_own(self) -> bool:
        return self.type in (None, "function")


GivenTool = Annotated[
    ToolDefinition,
    Meta(
        extra_json_schema={
            "anyOf": [
                {"required": ["function"], "properties": {"function": {"type": "object"}}},
                {
                    "required": ["name"],
                    "properties": {
                        "function": {"type": "null"},
                        "name": _NAME,
                        "parameters": {"anyOf": [_PARAMETERS, {"type": "null"}]},
                    },
                },
                {
                    "required": ["type"],
                    "properties": {
                        "function": {"type": "null"},
                        "type": {"type": "string", "not": {"const": "function"}},
                    },
                },
            ]
        }
    ),
]


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


def messages_of(given: Sequence[GivenMessage]) -> tuple[Message, ...]:
    """Raises: UsageError, which names the message that is no good."""
    return read_messages([_plain(message) or msgspec.to_builtins(message) for message in given])


def _plain(message: GivenMessage) -> Message | None:
    """Of a message that has nothing but words, as most have."""
    role, content = message.role, message.content
    if not isinstance(content, str) or role not in ("user", "assistant", "system"):
        return None
    return Message(role=role, content=content) if message == GivenMessage(role=role, content=content) else None


def tools_of(given: Sequence[ToolDefinition] | None) -> tuple[Tool, ...]:
    """Raises: UsageError, which names the tool that is no good."""
    if not given:
        return ()
    try:
        text = msgspec.json.encode(given)
    except (ValueError, OverflowError):  # half a character, or a number beyond all bounds
        return read_tools(msgspec.to_builtins(given))
    return read_encoded_tools(text)


def refuse_logprobs(wanted: bool | int | None, most: int | None) -> None:
    """Raises: UsageError, if they are wanted: what comes from a model is text and calls."""
    if wanted or most:
        raise UsageError("'logprobs' aren't to be had here", hint="leave them out")


def texts_of(wanted: str | Sequence[object]) -> tuple[str, ...]:
    """Raises: UsageError, if they are tokens."""
    texts = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError("tokens can't be embedded here: 'input' has to be of texts", hint="send the texts themselves")
    return cast("tuple[str, ...]", texts)


def is_no_time(span: str | float | None) -> bool:
    return span is not None and _NO_TIME.fullmatch(str(span)) is not None


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
    own = [tool for tool in given if tool.is_own]
    found = chosen(choice, tools_of(own))
    return found if len(own) == len(given) else _without_foreign(found, given)


def _without_foreign(found: Offered, given: Sequence[ToolDefinition]) -> Offered:
    left_out = LeftOut()
    for tool in given:
        if not tool.is_own:
            left_out.tool(tool.name or (tool.function.name if tool.function else ""), tool.type)
    wanted = found.choice
    names = {tool.name for tool in found.tools}
    if wanted not in (None, "auto", "none") and (wanted not in names if wanted != "required" else not names):
        left_out.choice(wanted)
        wanted = "auto"
    return Offered(found.tools, wanted, left_out.notices)


def chosen(choice: ToolChoice | None, tools: tuple[Tool, ...]) -> Offered:
    match choice:
        case NamedTool(NamedFunction(name)):
            return Offered(tools, name)
        case AllowedTools(AllowedSet(mode, allowed)):
            names = {tool.function.name for tool in allowed}
            return Offered(tuple(tool for tool in tools if tool.name in names), mode)
    return Offered(tools, choice)
