"""A conversation as a chat template gets it: in OpenAI's form, but for what the template insists on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from callgate.vocabulary import Capabilities, ChatRequest, Message, Tool, ToolCall


class TemplateInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a template is rendered with, beside its model's special tokens."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None = None
    variables: Mapping[str, Any] = {}
    """Whatever else templates read, such as `enable_thinking`."""
    answer: str = ""
    """How the answer starts, where that is given: it stands behind what the template writes."""
    now: datetime = msgspec.field(default_factory=datetime.now)
    """In local time, as engines have it."""

    def context(self) -> dict[str, Any]:
        """By the names that templates know. As in llama.cpp, tools that there aren't are undefined, and not none."""
        tools = {} if self.tools is None else {"tools": self.tools}
        return {
            "date_string": self.now.strftime("%d %b %Y"),
            "datetime": self.now.strftime("%b %d %Y"),
            "strftime_now": self.now.strftime,
            "add_generation_prompt": True,
            **self.variables,
            "messages": self.messages,
            **tools,
        }


def template_input(request: ChatRequest, known: Capabilities) -> TemplateInput:
    """`request` for the template of the model that is `known`, as llama.cpp hands it over."""
    messages, answer = request.messages, ""
    if messages and messages[-1].role == "assistant" and not messages[-1].calls:
        messages, answer = messages[:-1], messages[-1].content
    return TemplateInput(
        messages=[_message(message, known) for message in messages],
        tools=[_tool(tool) for tool in request.tools] or None,
        variables=_variables(request, known),
        answer=answer,
    )


def _variables(request: ChatRequest, known: Capabilities) -> dict[str, Any]:
    thinks = request.think if isinstance(request.think, bool) else known.supports_enable_thinking is True
    variables: dict[str, Any] = {"enable_thinking": thinks}
    if isinstance(request.think, str):
        variables["reasoning_effort"] = "high" if request.think == "max" else request.think
    own = request.extra.get("chat_template_kwargs")
    return {**variables, **own} if isinstance(own, Mapping) else variables


def _message(message: Message, known: Capabilities) -> dict[str, Any]:
    # The order of keys is llama.cpp's, for templates that print a message whole.
    shown: dict[str, Any] = {"role": message.role, "content": _content(message, known)}
    if message.thinking:
        shown["reasoning_content"] = message.thinking
    if message.calls:
        shown["tool_calls"] = [_call(call, known) for call in message.calls]
    if message.role == "tool":
        if message.name:
            shown["name"] = message.name
        shown["tool_call_id"] = message.call_id or ""
    return shown


def _content(message: Message, known: Capabilities) -> str | list[dict[str, Any]]:
    if not message.images and not known.requires_typed_content:
        return message.content
    text = [{"type": "text", "text": message.content}] if message.content or not message.images else []
    return [*text, *({"type": "image"} for _ in message.images)]


def _call(call: ToolCall, known: Capabilities) -> dict[str, Any]:
    arguments: Any = call.arguments
    if known.requires_string_arguments and not isinstance(arguments, str):
        arguments = call.raw or msgspec.json.encode(arguments).decode()
    elif isinstance(arguments, str) and not known.requires_string_arguments:
        arguments = _read(arguments)
    return {"type": "function", "function": {"name": call.name, "arguments": arguments}, "id": call.id}


def _read(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return arguments


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
