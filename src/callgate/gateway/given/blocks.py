"""Messages as Anthropic's clients write them: in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from callgate.gateway.given.left_out import LeftOut
from callgate.gateway.given.parts import Part, picture, text_in
from callgate.vocabulary import Image, Message, ToolCall

BILLING = "x-anthropic-billing-header:"
"""How a line begins that some agents put before their system prompt. It says nothing to a model, and is another one in
every request, so that no engine would find the prompt in its cache.
"""


class GivenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the conversation so far. Known blocks: text, image, document, search_result, thinking, tool_use
    and tool_result.
    """

    role: Literal["user", "assistant", "system"]
    content: str | list[Part]


def system_of(given: str | Sequence[Mapping[str, Any]] | None, left_out: LeftOut) -> str:
    if given is None or isinstance(given, str):
        return _without_billing(given or "")
    texts: list[str] = []
    for block in given:
        if isinstance(text := block.get("text"), str):
            texts.append(_without_billing(text))
        else:
            left_out.part(block.get("type"))
    return "\n\n".join(filter(None, texts))


def _without_billing(text: str) -> str:
    return text.partition("\n")[2] if text.startswith(BILLING) else text


def messages_of(given: Sequence[GivenTurn], left_out: LeftOut) -> list[Message]:
    """One at least."""
    return [message for turn in given for message in _messages(turn, left_out)] or [Message(role="user")]


def _messages(turn: GivenTurn, left_out: LeftOut) -> Iterator[Message]:
    """Results come before what the user says to them, whatever their order is."""
    if isinstance(turn.content, str):
        yield Message(role=turn.role, content=turn.content)
        return
    said = _Shown(left_out)
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    results: list[Message] = []
    for block in turn.content:
        match block:
            case {"type": "tool_use", "name": str(name)} if name and turn.role == "assistant":
                calls.append(ToolCall(text_in(block, "id"), name, _object(block.get("input"))))
            case {"type": "tool_result"}:
                results.append(_result(block, left_out))
            case {"type": "thinking", "thinking": str(text)}:
                thoughts.append(text)
            case {"type": "redacted_thinking"}:  # nobody but its maker can read it
                pass
            case _:
                said.add(block)
    yield from results
    thinking = "\n".join(filter(None, thoughts)) or None
    if turn.role == "assistant":
        if said or calls or thinking:
            yield Message(role="assistant", content=said.text, thinking=thinking, calls=tuple(calls))
    elif said or not results:
        yield Message(role=turn.role, content=said.text, images=tuple(said.images))


class _Shown:
    """What a model is shown of blocks."""

    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        self._texts: list[str] = []
        self.images: list[Image] = []

    def __bool__(self) -> bool:
        return bool(self._texts or self.images)

    @property
    def text(self) -> str:
        return "\n".join(self._texts)

    def add_all(self, content: object) -> None:
        if isinstance(content, str):
            self._say(content)
        elif isinstance(content, list):
            for block in content:
                self.add(block if isinstance(block, dict) else {})

    def add(self, block: Mapping[str, Any]) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                self._say(text)
            case {"type": "image", "source": {"type": "base64"} as source} if image := _image(source):
                self.images.append(image)
            case {"type": "image" | "document" as kind, "source": {"type": "url"}}:
                self._say(f"{_title(block)}{self._left_out.elsewhere(kind)}")
            case {"type": "image"}:
                self._say(self._left_out.stand_in("image"))
            case {"type": "document", "source": {"type": "text", "data": str(text)}}:
                self._say(f"{_title(block)}{text}")
            case {"type": "document", "source": {"type": "content", "content": content}}:
                self._say(_title(block))
                self.add_all(content)
            case {"type": "document", "source": {"media_type": str(kind)}}:
                self._say(f"{_title(block)}{self._left_out.stand_in(kind)}")
            case {"type": "document"}:
                self._say(f"{_title(block)}{self._left_out.stand_in('document')}")
            case {"type": "search_result", "source": str(source), "content": content}:
                self._say(f"{_title(block)}{source}")
                self.add_all(content)
            case {"type": "tool_reference", "tool_name": str(name)}:
                self._say(f"[The tool {name} is there.]")
            case _:
                self._left_out.part(block.get("type"))

    def _say(self, text: str) -> None:
        if text:
            self._texts.append(text)


def _result(block: Mapping[str, Any], left_out: LeftOut) -> Message:
    shown = _Shown(left_out)
    shown.add_all(block.get("content"))
    text = shown.text
    if block.get("is_error") is True and not text.lower().startswith("error"):
        text = f"error: {text}"
    call_id = text_in(block, "tool_use_id") or None
    return Message(role="tool", content=text, images=tuple(shown.images), call_id=call_id)


def _image(source: Mapping[str, Any]) -> Image | None:
    return picture(source.get("data"), source.get("media_type"))


def _title(block: Mapping[str, Any]) -> str:
    title = text_in(block, "title")
    return f"{title}\n" if title else ""


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
