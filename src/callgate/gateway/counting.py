"""How many tokens a request takes: as the model's own server counts them, or else about how many."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from callgate.backends import ShowsPrompts
from callgate.runtime import Session, tokens_of
from callgate.vocabulary import BackendError, ChatRequest, Message, ModelRef

BYTES_PER_TOKEN = 3.6
"""Of English and of JSON; other scripts have more bytes to a letter, and more tokens."""
TOKENS_PER_MESSAGE = 4
"""What a template writes around each."""
TOKENS_PER_IMAGE = 1_000


class Counted(NamedTuple):
    tokens: int
    is_estimate: bool


async def count_tokens(session: Session, ref: ModelRef, request: ChatRequest) -> Counted:
    """Of the prompt that `ref` would get. Raises: as `Session.plan` does."""
    ref = await session.resolve(ref)
    backend = session.backend(ref)
    planned = (await session.plan(ref, request)).request
    if isinstance(backend, ShowsPrompts):
        try:
            # An Ollama would load the model, and count nothing.
            prompt = await backend.rendered(planned, may_load=ref.scheme != "ollama")
        except BackendError:
            prompt = None
        if prompt and prompt.tokens is not None:
            return Counted(prompt.tokens, is_estimate=False)
        if prompt:
            return Counted(_about(prompt.text), is_estimate=True)
    return Counted(estimated(planned), is_estimate=True)


def estimated(request: ChatRequest) -> int:
    tools = sum(tokens_of(tool) for tool in request.tools)
    return max(1, tools + sum(_of_message(message) for message in request.messages))


def _of_message(message: Message) -> int:
    calls = [msgspec.json.encode([call.name, call.arguments]).decode() for call in message.calls]
    said = sum(_about(text) for text in (message.content, message.thinking or "", *calls))
    return TOKENS_PER_MESSAGE + said + TOKENS_PER_IMAGE * len(message.images)


def _about(text: str) -> int:
    return round(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)
