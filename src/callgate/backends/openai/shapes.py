"""What an OpenAI-compatible server sends, as far as we read it. All else is passed over by the decoder."""

from __future__ import annotations

from typing import Any

import msgspec


class Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    """A text of JSON, or a part of it; from some servers the object itself."""


class CallPiece(msgspec.Struct, gc=False):
    """A tool call, or what has come of it."""

    index: int | None = None
    id: str | int | None = None
    function: Function | None = None


class Part(msgspec.Struct, gc=False):
    """Of a content in parts."""

    type: str = ""
    text: str | None = None
    thinking: str | list[Part] | None = None


class Saying(msgspec.Struct, gc=False):
    """A piece of a message, or all of it."""

    content: str | list[Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[CallPiece] | None = None
    function_call: Function | None = None
    """How the oldest servers send a call, of which there is but one."""


class Choice(msgspec.Struct, gc=False):
    index: int | None = 0
    delta: Saying | None = None
    message: Saying | None = None
    finish_reason: str | None = None
    stop_reason: Any = None
    """From vLLM, the text that ended the answer, or the token."""
    matched_stop: Any = None
    """The same from SGLang."""


class Tokens(msgspec.Struct, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: Any = None

    @property
    def cached(self) -> int | None:
        match self.prompt_tokens_details:
            case {"cached_tokens": int(cached)} if cached >= 0:
                return cached
        return None


class Details(msgspec.Struct, gc=False):
    stopping_word: Any = None


class Chunk(msgspec.Struct, gc=False):
    choices: list[Choice] | None = None
    usage: Tokens | None = None
    error: Any = None
    object: str | None = None
    message: Any = None
    """Of an error, where the whole object is one."""
    verbose: Details | None = msgspec.field(name="__verbose", default=None)
    """From llama.cpp, if it was asked for."""


decode_chunk = msgspec.json.Decoder(Chunk).decode
