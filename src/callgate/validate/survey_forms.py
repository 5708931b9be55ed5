"""Which forms of a request a server takes: tools wrapped, flat and as `functions`, and `tool_choice`.

They go straight to the backend, which passes on what it doesn't know: callgate itself only sends what works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from callgate.runtime import Session
from callgate.validate.survey_records import Taken
from callgate.vocabulary import (
    AssistantDelta,
    BackendError,
    BadStatus,
    ChatRequest,
    Done,
    Message,
    ModelRef,
    ToolCallEvent,
    ToolsRefused,
)

MOST_TOKENS = 256
"""Some engines let a model talk before the call that it is held to."""
PATIENCE_SECONDS = 120.0
QUESTION = "What is the humidity in Lisbon?"
_FUNCTION: Mapping[str, Any] = {
    "name": "get_humidity",
    "description": "Get the humidity of the air in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The name of the city"}},
        "required": ["city"],
    },
}
_WRAPPED = {"type": "function", "function": _FUNCTION}
_NAMED = {"type": "function", "function": {"name": "get_humidity"}}
FORMS: Mapping[str, Mapping[str, Any]] = {
    "wrapped": {"tools": [_WRAPPED]},
    "flat": {"tools": [{"type": "function", **_FUNCTION}]},
    "functions": {"functions": [_FUNCTION]},
    "required": {"tools": [_WRAPPED], "tool_choice": "required"},
    "named": {"tools": [_WRAPPED], "tool_choice": _NAMED},
}
_WORDS_FOR = frozenset({"required", "named"})
"""Asked about nothing that calls for a tool, so that a call shows that the choice was heeded."""


async def forms_taken(session: Session, ref: ModelRef) -> dict[str, Taken]:
    """What the server of the model does with each."""
    if ref.scheme == "scripted":  # whatever it is asked, it plays its next answer
        return {}
    return {name: await _taken(session, ref, name, form) for name, form in FORMS.items()}


async def _taken(session: Session, ref: ModelRef, name: str, form: Mapping[str, Any]) -> Taken:
    request = ChatRequest(
        model=ref.name,
        messages=(Message(role="user", content="Hello!" if name in _WORDS_FOR else QUESTION),),
        max_tokens=MOST_TOKENS,
        options={"temperature": 0},
        extra=form,
        stream=False,
    )
    has_words = was_cut = False
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), aclosing(session.backend(ref).stream(request)) as events:
            async for event in events:
                if isinstance(event, ToolCallEvent):
                    return "calls"
                was_cut = was_cut or (isinstance(event, Done) and event.reason == "length")
                has_words = has_words or (isinstance(event, AssistantDelta) and bool(event.text.strip()))
    except (ToolsRefused, BadStatus):  # some servers have no other word for it than 500
        return "refused"
    except (BackendError, TimeoutError):
        return "failed"
    if was_cut:
        return "cut-off"
    return "ignored" if has_words else "taken"
