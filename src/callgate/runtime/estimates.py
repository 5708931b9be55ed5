"""About how many tokens something takes, where no server has counted: only a model's own tokenizer knows."""

from __future__ import annotations

import msgspec

from callgate.tools import write_tools
from callgate.vocabulary import CallgateError, ChatRequest, Message, Tool

BYTES_PER_TOKEN = 3.6
"""Of English, and of JSON; measured, it is between 3.3 and 4.5. Other scripts have more bytes to a letter, and more
tokens.
"""
TOKENS_PER_MESSAGE = 4
"""What a template writes around each."""
TOKENS_PER_TOOL = 8
"""Likewise."""


def tokens_of_text(text: str | bytes) -> int:
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
    return round(size / BYTES_PER_TOKEN)


def tokens_of_tool(tool: Tool) -> int:
    try:
        return TOKENS_PER_TOOL + tokens_of_text(msgspec.json.encode(write_tools([tool], "openai")))
    except (TypeError, ValueError, RecursionError, CallgateError):  # whoever sends it will say what is wrong with it
        return TOKENS_PER_TOOL


def tokens_of_message(message: Message) -> int:
    """Images aren't counted: no two models take the same for them."""
    tokens = TOKENS_PER_MESSAGE + tokens_of_text(message.content) + tokens_of_text(message.thinking or "")
    try:
        return tokens + sum(tokens_of_text(msgspec.json.encode([call.name, call.arguments])) for call in message.calls)
    except (TypeError, ValueError, RecursionError):
        return tokens


def tokens_of_request(request: ChatRequest) -> int:
    """Of all that is said and all that is offered; images aren't counted."""
    return sum(map(tokens_of_message, request.messages)) + sum(map(tokens_of_tool, request.tools))
