"""What is asked, in OpenAI's form."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import msgspec

from callgate.tools import written_tools
from callgate.vocabulary import ChatRequest, Image, Message, ToolCall

_CHOICES = ("auto", "none", "required")
_OTHER_NAMES = {"num_predict": "max_tokens"}
_SET_AT_ITS_START = ("num_ctx",)
"""Options of other backends that such a server can't be asked for."""


def body_of(request: ChatRequest) -> bytes:
    """The body of a request to `/v1/chat/completions`. What isn't asked for isn't in it."""
    body: dict[str, Any] = {"model": request.model, "messages": list(map(_message, request.messages))}
    if request.tools:
        body["tools"] = written_tools(request.tools, "openai")
        if request.tool_choice:
            body["tool_choice"] = _choice(request.tool_choice)
        if request.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = request.parallel_tool_calls
    if request.schema is not None:
        held_to = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": held_to}
    if isinstance(request.think, str):
        body["reasoning_effort"] = "high" if request.think == "max" else request.think
    elif request.think is not None:
        body["chat_template_kwargs"] = {"enable_thinking": request.think}
    for name, value in request.options.items():
        if name not in _SET_AT_ITS_START:
            body[_OTHER_NAMES.get(name, name)] = value
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    body.update(request.extra)
    return msgspec.json.encode(body)


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        text = [{"type": "text", "text": message.content}] if message.content else []
        sent["content"] = [*text, *(_image(image) for image in message.images)]
    if message.thinking:
        sent["reasoning_content"] = message.thinking
    if message.calls:
        # Some templates show calls only where the content is null.
        sent["content"] = message.content or None
        sent["tool_calls"] = [_call(call) for call in message.calls]
    if message.role == "tool":
        sent["tool_call_id"] = message.call_id or ""
        if message.name:
            sent["name"] = message.name
    return sent


def _image(image: Image) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{b64encode(image.data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}


def _arguments(call: ToolCall) -> str:
    """JSON in any case: servers parse it before their templates see it. As the model wrote it, if nobody changed it."""
    if isinstance(call.arguments, str):
        return call.arguments if _is_json(call.arguments) else msgspec.json.encode(call.arguments).decode()
    if call.raw and _is_json(call.raw) and msgspec.json.decode(call.raw) == call.arguments:
        return call.raw
    return msgspec.json.encode(call.arguments).decode()


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return False
    return True


def _choice(choice: str) -> object:
    return choice if choice in _CHOICES else {"type": "function", "function": {"name": choice}}
