"""How many tokens a request takes: as the model's own server counts them, or else about how many."""

from __future__ import annotations

from typing import NamedTuple

from callgate.backends import ShowsPrompts
from callgate.gateway.outsized import refuse_outsized
from callgate.runtime import Session, tokens_of_request, tokens_of_text
from callgate.vocabulary import BackendError, ChatRequest, ContextExceeded, ModelRef

TOKENS_PER_IMAGE = 1_000


class Counted(NamedTuple):
    tokens: int
    is_estimate: bool


async def count_tokens(session: Session, ref: ModelRef, request: ChatRequest) -> Counted:
    """Of the prompt that `ref` would get. Raises: as `Session.plan` does."""
    try:
        await refuse_outsized(session, ref, request)
    except ContextExceeded:
        return Counted(estimated(request), is_estimate=True)
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
            return Counted(tokens_of_text(prompt.text), is_estimate=True)
    return Counted(estimated(planned), is_estimate=True)


def estimated(request: ChatRequest) -> int:
    images = sum(len(message.images) for message in request.messages)
    return max(1, tokens_of_request(request) + TOKENS_PER_IMAGE * images)
