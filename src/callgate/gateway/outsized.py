"""Prompts that can't fit, however they are counted: they are refused before anybody counts, which may take minutes."""

from __future__ import annotations

from callgate.runtime import Session, context_of, tokens_of_request
from callgate.vocabulary import ChatRequest, ContextExceeded, ModelRef

BYTES_PER_TOKEN = 128
"""No token of any tokenizer that we know of is longer."""
LONG = 1 << 18
"""Characters of a prompt from which on it is looked at at all: to count those takes but a second or two."""
_CUTTING = ("ollama", "openai")
"""Servers that may shorten a prompt themselves, where its sender doesn't mind."""


async def refuse_outsized(session: Session, ref: ModelRef, request: ChatRequest) -> None:
    """Raises: ContextExceeded; as `Session.find` does."""
    if (size := characters_of(request)) < LONG:
        return
    ref = await session.resolve(ref)
    if ref.scheme == "scripted" or (ref.scheme in _CUTTING and not request.whole_prompt):
        return
    room = await context_of(session, ref, request)
    if room is None or size <= room * BYTES_PER_TOKEN:
        return
    needed = tokens_of_request(request)
    raise ContextExceeded(
        f"the prompt has about {needed:,} tokens, more than the context of {room:,} that {ref.name!r} runs with",
        needed=needed,
        room=room,
        hint="shorten the conversation, or have the model loaded with a larger context",
    )


def characters_of(request: ChatRequest) -> int:
    """They are never more than bytes."""
    size = 0
    for message in request.messages:
        size += len(message.content)
    return size
