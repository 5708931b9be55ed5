"""What becomes of a request: the bytes that a server gets, and the prompt that it makes of them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import msgspec

from callgate.vocabulary import ChatRequest


class WireRequest(msgspec.Struct, frozen=True):
    """A request as a server gets it. Keys and passwords travel in headers, and aren't here."""

    url: str
    body: bytes
    """JSON."""


class RenderedPrompt(msgspec.Struct, frozen=True):
    text: str
    by: str
    """Who rendered it: `ollama`, `llama-server` …"""
    tokens: int | None = None
    """How many these are to the model, where its server counts them."""


@runtime_checkable
class ShowsPrompts(Protocol):
    """A backend that shows what becomes of a request, without a word of the model's."""

    async def wire(self, request: ChatRequest) -> WireRequest:
        """What `stream` would send. Raises: as it does."""
        ...

    async def rendered(self, request: ChatRequest, *, may_load: bool = False) -> RenderedPrompt | None:
        """The prompt that the server itself makes of it; `None` if it doesn't show any, or would have to load the
        model for that and may not. Raises: as `stream` does.
        """
        ...
