"""What an MCP tool gave back, in words and pictures for a model."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from callgate.runtime.tool_source import Outcome
from callgate.vocabulary import Image

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

MOST_IMAGES = 16
MOST_BLOCKS = 10_000
_LONGEST_WORD = 200


def outcome_of(result: CallToolResult) -> Outcome:
    """Texts as they are, pictures as pictures, and a line for each thing that a model can do nothing with.

    What is structured is said once: as a text where there is no other.
    """
    images: list[Image] = []
    texts: list[str] = []
    parts: list[str] = []
    for block in result.content[:MOST_BLOCKS]:
        if block.type == "text":
            texts.append(block.text)
            parts.append(block.text)
        elif block.type == "image":
            image = _image(block.data, block.mime_type)
            if image is None or len(images) >= MOST_IMAGES:
                parts.append(f"[{_word(block.mime_type)}: left out]")
            else:
                images.append(image)
        else:
            parts.append(_described(block))
    if len(result.content) > MOST_BLOCKS:
        parts.append(f"[{len(result.content) - MOST_BLOCKS:,} more parts: left out]")
    structured: object = result.structured_content
    if structured is not None and not _is_said(structured, texts):
        parts.append(_json(structured))
    return Outcome("\n".join(parts), is_error=result.is_error is True, images=tuple(images))


def _image(data: str, media_type: str) -> Image | None:
    if not media_type.startswith("image/") or not media_type.isascii() or not media_type.isprintable():
        return None
    try:
        return Image(base64.b64decode(data, validate=True), media_type)
    except (binascii.Error, ValueError):
        return None


def _described(block: ContentBlock) -> str:
    if block.type == "resource_link":
        words = [f"resource {_word(block.name)}: {_word(str(block.uri))}"]
        words += [f"({_word(block.mime_type)})"] if block.mime_type else []
        words += [f"– {_word(block.description)}"] if block.description else []
        return f"[{' '.join(words)}]"
    if block.type == "resource":
        resource = block.resource
        text = getattr(resource, "text", None)
        where = _word(str(resource.uri))
        if isinstance(text, str):
            return f"[resource {where}]\n{text}"
        size = _size(getattr(resource, "blob", ""))
        return f"[resource {where}, {_word(resource.mime_type or 'binary')}, {size}: left out]"
    if block.type == "audio":
        return f"[{_word(block.mime_type)}, {_size(block.data)}: left out]"
    return f"[{_word(block.type)}: left out]"


def _is_said(structured: object, texts: list[str]) -> bool:
    """Whether the texts are what is structured, as servers repeat it for clients that know only texts."""
    if not texts:
        return False
    whole = structured["result"] if isinstance(structured, dict) and list(structured) == ["result"] else structured
    said = list(_values(texts))
    if len(said) == 1 and (_same(said[0], structured) or _same(said[0], whole) or texts[0] == whole):
        return True
    return isinstance(whole, list) and (_same(said, whole) or texts == whole)


def _values(texts: Iterable[str]) -> Iterator[Any]:
    for text in texts:
        try:
            yield msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            yield text


def _same(one: object, other: object) -> bool:
    try:
        return one == other
    except RecursionError:
        return False


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return "[structured content: left out]"


def _size(encoded: str) -> str:
    size = len(encoded) * 3 // 4
    return f"{size:,} bytes" if size < 10_000 else f"{size // 1000:,} kB"


def _word(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text[:_LONGEST_WORD])
