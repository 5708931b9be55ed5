"""Says where a prompt doesn't fit the context of a loaded model, and its server would cut it without a word."""

from __future__ import annotations

import msgspec

from callgate.detect import Finding
from callgate.gate import Plan
from callgate.runtime.estimates import tokens_of_request
from callgate.vocabulary import ModelRef, Notice, ServerKind

_REFUSING = (ServerKind.LLAMA_SERVER, ServerKind.VLLM, ServerKind.SGLANG)
"""They say so themselves, and give no answer."""


def with_room_told(planned: Plan, ref: ModelRef, finding: Finding) -> Plan:
    """Our own engine refuses, too, and an Ollama that is asked in its own way is told how much room to make."""
    room = finding.capabilities.loaded_context
    if room is None or ref.scheme != "openai" or finding.facts.server in _REFUSING:
        return planned
    if (needed := tokens_of_request(planned.request)) <= room:
        return planned
    said = (
        f"prompt and tools take about {needed:,} tokens, and {ref.name!r} is loaded with a context of {room:,}: "
        "its server may drop what doesn't fit"
    )
    return msgspec.structs.replace(planned, notices=(*planned.notices, Notice("context_too_small", said)))
