"""Messages as clients of OpenAI and of Ollama write them, as far as `read_messages` knows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta
from msgspec.structs import astuple

from callgate.gateway.given.parts import MOST_MESSAGES
from callgate.runtime import read_messages
from callgate.vocabulary import Message, UsageError

_BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)"
Picture = Annotated[
    str,
    Meta(
        description="A picture in base64, or as a data: URL. Pictures elsewhere aren't fetched.",
        extra_json_schema={"pattern": f"^(?:data:[^,]*,)?{_BASE64}$"},
    ),
]


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


_NOT_IN_PLAIN = len(GivenMessage.__struct_fields__) - len(("role", "content"))


def messages_of(given: Sequence[GivenMessage]) -> tuple[Message, ...]:
    """Raises: UsageError, which names the message that is no good."""
    plain = [_plain(message) for message in given]
    if len(plain) <= MOST_MESSAGES and all(plain):
        return tuple(cast("list[Message]", plain))
    try:
        read = [easy or msgspec.to_builtins(message) for easy, message in zip(plain, given, strict=True)]
        return read_messages(read)
    except UsageError as error:
        error.param = error.param or "messages"
        raise


def _plain(message: GivenMessage) -> Message | None:
    """Of a message that has nothing but words, as most have."""
    role, content = message.role, message.content
    if type(content) is not str or role not in ("user", "assistant", "system"):
        return None
    return Message(role=role, content=content) if astuple(message).count(None) == _NOT_IN_PLAIN else None
