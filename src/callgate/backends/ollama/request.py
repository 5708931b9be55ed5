"""What is asked of `/api/chat`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.tools import write_tools
from callgate.vocabulary import ChatRequest, Message, ToolCall, UsageError

BYTES_PER_TOKEN = 3
"""English has about four, code and other scripts fewer: a guess that rather takes a prompt for too long."""
TOKENS_PER_IMAGE = 1000

_OWN_NAMES = {"max_tokens": "num_predict", "repetition_penalty": "repeat_penalty"}


def body_of(request: ChatRequest, *, num_ctx: int | None = None, stream: bool | None = None) -> dict[str, Any]:
    """The request in Ollama's words. What isn't asked for isn't there, so that without tools it is a plain one."""
    names = {call.id: call.name for message in request.messages for call in message.calls}
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_message(message, names) for message in request.messages],
        "stream": request.stream if stream is None else stream,
    }
    if offers_tools(request):
        body["tools"] = write_tools(request.tools, "ollama")
    if request.schema is not None:
        body["format"] = request.schema
    if request.think is not None:
        body["think"] = request.think
    options = options_of(request)
    if "keep_alive" in options:  # of the request for Ollama, not of sampling
        body["keep_alive"] = options.pop("keep_alive")
    if num_ctx is not None:
        options["num_ctx"] = num_ctx
    body.update(request.extra)
    if options:
        body["options"] = options
    return body


def offers_tools(request: ChatRequest) -> bool:
    """Ollama knows no `tool_choice`, but a model that sees no tools calls none."""
    return bool(request.tools) and request.tool_choice != "none"


def options_of(request: ChatRequest) -> dict[str, Any]:
    """All options, in Ollama's names; those that the caller wrote in Ollama's own form come last and win."""
    options: dict[str, Any] = {}
    if request.max_tokens is not None:
        options["num_predict"] = request.max_tokens
    options.update({_OWN_NAMES.get(name, name): value for name, value in request.options.items()})
    if isinstance(stop := options.get("stop"), str):
        options["stop"] = [stop]
    own = request.extra.get("options")
    return {**options, **own} if isinstance(own, Mapping) else options


def encoded(body: Mapping[str, Any]) -> bytes:
    """Raises: UsageError, if there is something in it that JSON has no words for."""
    try:
        return msgspec.json.encode(body, enc_hook=_plain)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UsageError(f"the request can't be written as JSON ({type(error).__name__})") from None


def prompt_tokens(request: ChatRequest, sent: bytes) -> int:
    """About how many tokens the prompt takes, tools included: rather too many than too few."""
    images = [image for message in request.messages for image in message.images]
    encoded_images = sum(4 * ((len(image.data) + 2) // 3) for image in images)
    return (len(sent) - encoded_images) // BYTES_PER_TOKEN + TOKENS_PER_IMAGE * len(images)


def _message(message: Message, names: Mapping[str, str]) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.thinking:
        sent["thinking"] = message.thinking
    if message.images:
        sent["images"] = [b64encode(image.data).decode() for image in message.images]
    if message.calls:
        sent["tool_calls"] = [_call(call) for call in message.calls]
    if message.role == "tool":
        if name := message.name or names.get(message.call_id or ""):
            sent["tool_name"] = name
        if message.call_id:
            sent["tool_call_id"] = message.call_id
    return sent


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": _arguments(call.arguments)}}


def _arguments(given: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Ollama takes an object alone; a text that isn't one is kept as it is, inside one."""
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {"arguments": given}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
