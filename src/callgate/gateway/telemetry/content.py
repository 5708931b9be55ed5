"""What was said, in the form in which OpenTelemetry's conventions record it: for those who ask for it only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from callgate.runtime import Said
from callgate.vocabulary import Message, Tool, ToolCall

LONGEST_TEXT = 16_000
"""Letters of one part."""
MOST_LETTERS = 256_000
"""Of all messages. The oldest are left out first."""
MOST_TOOLS = 128
_FINISHED = {"tool_calls": "tool_call", "cancelled": "error"}


def messages(every: Sequence[Message]) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    letters = 0
    for message in reversed(every):
        parts = list(_parts(message))
        letters += sum(_length(part) for part in parts)
        if kept and letters > MOST_LETTERS:
            break
        kept.append({"role": message.role, "parts": parts})
    return kept[::-1]


def answered(said: Said) -> list[dict[str, Any]]:
    """None, if the model said nothing."""
    parts = [*_texts(said.thinking, said.text), *map(_call, said.calls)]
    if not parts and said.done is None:
        return []
    reason = said.done.reason if said.done else "error"
    return [{"role": "assistant", "parts": parts, "finish_reason": _FINISHED.get(reason, reason)}]


def tools(every: Iterable[Tool]) -> list[dict[str, Any]]:
    return [{"type": "function", "name": _cut(tool.name)} for tool in list(every)[:MOST_TOOLS]]


def _parts(message: Message) -> Iterable[dict[str, Any]]:
    if message.role == "tool":
        yield {"type": "tool_call_response", "id": message.call_id, "response": _cut(message.content)}
        return
    yield from _texts(message.thinking or "", message.content)
    for image in message.images:  # what is in it would be too much
        yield {"type": "image", "modality": "image", "mime_type": image.media_type}
    yield from map(_call, message.calls)


def _texts(thinking: str, content: str) -> Iterable[dict[str, Any]]:
    if thinking:
        yield {"type": "reasoning", "content": _cut(thinking)}
    if content:
        yield {"type": "text", "content": _cut(content)}


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = _cut(call.arguments) if isinstance(call.arguments, str) else _bounded(call.arguments)
    return {"type": "tool_call", "id": call.id, "name": _cut(call.name), "arguments": arguments}


def _bounded(arguments: Mapping[str, Any]) -> Mapping[str, Any] | str:
    written = msgspec.json.encode(arguments)
    return arguments if len(written) <= LONGEST_TEXT else _cut(written.decode("utf-8", "replace"))


def _cut(text: str) -> str:
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode()


def _length(part: dict[str, Any]) -> int:
    return sum(len(value) for value in part.values() if isinstance(value, str))
