"""Conversations and tools as clients of OpenAI's Responses write them: a list of items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from callgate.gateway.given.left_out import LeftOut
from callgate.gateway.given.parts import is_elsewhere, picture, text_in
from callgate.gateway.given.tools import OfferedTool
from callgate.tools import read_tools
from callgate.vocabulary import Image, Message, Tool, ToolCall

_SYSTEM = ("system", "developer")
_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_FREE_TEXT = {"type": "string", "description": "All of it, as it is."}
FREE = "input"
"""The one parameter of a tool that takes a text as it is."""


class Way(msgspec.Struct, frozen=True):
    """How the calls of a tool are told that isn't a plain function."""

    name: str
    namespace: str | None = None
    is_free: bool = False
    """It takes a text as it is."""


class Offered(msgspec.Struct, frozen=True):
    tools: tuple[Tool, ...] = ()
    ways: Mapping[str, Way] = {}
    """By the names that the model knows."""


def offered(given: Iterable[OfferedTool], left_out: LeftOut) -> Offered:
    """Raises: UsageError, which names the tool that is no good."""
    own: list[dict[str, Any]] = []
    ways: dict[str, Way] = {}

    def add(tool: OfferedTool, namespace: str | None = None) -> None:
        if tool.is_nested and (custom := tool.custom):
            about = {"name": custom.name, "description": custom.description, "format": custom.format}
            tool = msgspec.structs.replace(tool, **about)
        if tool.type == "custom" and tool.name is not None and tool.function is None:
            name = name_within(namespace, tool.name)
            ways[name] = Way(tool.name, namespace, is_free=True)
            own.append({"name": name, **_free(tool)})
        elif tool.is_own("function", "custom"):
            definition = tool.definition(tool.parameters)
            if namespace and tool.name:
                definition["name"] = name_within(namespace, tool.name)
                ways[definition["name"]] = Way(tool.name, namespace)
            own.append(definition)
        elif tool.type == "namespace" and tool.name and tool.tools and namespace is None:
            for inner in tool.tools:
                add(inner, tool.name)
        else:
            left_out.tool(tool.name or "", tool.type)

    for tool in given:
        add(tool)
    return Offered(read_tools(own) if own else (), ways)


def name_within(namespace: object, name: str) -> str:
    return f"{namespace.rstrip('_')}__{name}" if isinstance(namespace, str) and namespace else name


def _free(tool: OfferedTool) -> dict[str, Any]:
    described = tool.description or ""
    match tool.format:
        case {"type": "grammar", "definition": str(grammar), "syntax": str(syntax)}:
            described = f"{described}\n\nThe {FREE} must follow this grammar ({syntax}):\n{grammar}"
    parameters = {"type": "object", "properties": {FREE: _FREE_TEXT}, "required": [FREE]}
    return {"description": described, "parameters": parameters}


def messages_of(items: Iterable[Mapping[str, Any]], left_out: LeftOut) -> list[Message]:
    found: list[Message] = []
    answer = _Answer()
    for item in items:
        match item:
            case {"type": "function_call", "name": str(name)} if name:
                name = name_within(item.get("namespace"), name)
                answer.calls.append(ToolCall(text_in(item, "call_id"), name, *_arguments(item.get("arguments"))))
            case {"type": "custom_tool_call", "name": str(name)} if name:
                name = name_within(item.get("namespace"), name)
                answer.calls.append(ToolCall(text_in(item, "call_id"), name, {FREE: text_in(item, "input")}))
            case {"type": "reasoning"}:
                for key in ("summary", "content"):
                    answer.thoughts.append(_shown(item.get(key), left_out)[0])
            case {"type": "function_call_output" | "custom_tool_call_output"}:
                found += answer.ended()
                text, images = _shown(item.get("output"), left_out)
                call_id = text_in(item, "call_id") or None
                found.append(Message(role="tool", content=text, images=images, call_id=call_id))
            case {"role": role} if item.get("type", "message") == "message":
                text, images = _shown(item.get("content"), left_out)
                if role == "assistant":
                    answer.texts.append(text)
                else:
                    found += answer.ended()
                    found.append(Message(role="system" if role in _SYSTEM else "user", content=text, images=images))
            case _:
                left_out.part(item.get("type"))
    return [*found, *answer.ended()]


class _Answer:
    """Items that follow each other are one answer: what was thought, said and called."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[ToolCall] = []

    def ended(self) -> list[Message]:
        """Its message, if it has one. What comes then is another."""
        text, thinking = ("\n".join(filter(None, pieces)) for pieces in (self.texts, self.thoughts))
        calls = tuple(self.calls)
        self.texts.clear()
        self.thoughts.clear()
        self.calls.clear()
        if not (text or thinking or calls):
            return []
        return [Message(role="assistant", content=text, thinking=thinking or None, calls=calls)]


def _shown(content: object, left_out: LeftOut) -> tuple[str, tuple[Image, ...]]:
    if content is None or isinstance(content, str):
        return content or "", ()
    texts: list[str] = []
    images: list[Image] = []
    parts: list[Any] = content if isinstance(content, list) else [content]
    for part in parts:
        match part:
            case {"type": kind, "text": str(text)} if kind in _TEXTS:
                texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                texts.append(text)
            case {"type": "input_image" | "image_url"}:
                url = part.get("image_url")
                url = url.get("url") if isinstance(url, dict) else url
                image = picture(url)
                images += [image] if image else []
                texts += (
                    [] if image else [left_out.elsewhere("image") if is_elsewhere(url) else left_out.stand_in("image")]
                )
            case {"type": str(kind)}:
                texts.append(left_out.stand_in(kind))
            case _:
                left_out.part("")
    return "\n".join(filter(None, texts)), tuple(images)


def _arguments(given: object) -> tuple[Mapping[str, Any] | str, str | None]:
    """Read, and as they were written."""
    if not isinstance(given, str):
        return (given, None) if isinstance(given, dict) else ({}, None)
    try:
        return msgspec.json.decode(given or "{}", type=dict[str, Any]), given
    except (msgspec.DecodeError, ValueError, RecursionError):
        return given, given


def items_of(given: str | Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given
