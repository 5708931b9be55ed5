"""Says where a prompt doesn't fit the context of a loaded model, and its server would cut it without a word."""

from __future__ import annotations

import msgspec

from callgate.detect import Finding
from callgate.gate import Plan
from callgate.tools import write_tools
from callgate.vocabulary import CallgateError, ChatRequest, ModelRef, Notice, ServerKind

BYTES_PER_TOKEN = 3.6
TOKENS_PER_MESSAGE = 4
_REFUSING = (ServerKind.LLAMA_SERVER, ServerKind.VLLM, ServerKind.SGLANG)
"""They say so themselves, and give no answer."""


def with_room_told(planned: Plan, ref: ModelRef, finding: Finding) -> Plan:
    """Our own engine refuses, too, and an Ollama that is asked in its own way is told how much room to make."""
    room = finding.capabilities.loaded_context
    if room is None or ref.scheme != "openai" or finding.facts.server in _REFUSING:
        return planned
    if (needed := estimated(planned.request)) <= room:
        return planned
    said = (
        f"prompt and tools take about {needed:,} tokens, and {ref.name!r} is loaded with a context of {room:,}: "
        "its server may drop what doesn't fit"
    )
    return msgspec.structs.replace(planned, notices=(*planned.notices, Notice("context_too_small", said)))


def estimated(request: ChatRequest) -> int:
    """About how many tokens. Images aren't counted: no two models take the same for them."""
    size = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    calls = [(call.name, call.arguments) for message in request.messages for call in message.calls]
    try:
        size += len(msgspec.json.encode(calls)) if calls else 0
        size += len(msgspec.json.encode(write_tools(request.tools, "openai"))) if request.tools else 0
    except (TypeError, ValueError, RecursionError, CallgateError):
        pass  # whoever sends it will say what is wrong with it
    return round(size / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * len(request.messages)
