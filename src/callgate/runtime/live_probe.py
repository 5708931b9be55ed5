"""The live probe: one small request with a test tool. Only a right call proves anything."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing

import msgspec

from callgate.runtime.session import Session
from callgate.vocabulary import (
    Answer,
    BackendError,
    CannotThink,
    ChatRequest,
    Evidence,
    Message,
    ModelRef,
    Source,
    Tool,
    ToolCall,
    ToolCallEvent,
    ToolsRefused,
)

CITY = "Lisbon"
WEATHER = Tool(
    "get_weather",
    "Get the current weather in a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The name of the city"}},
        "required": ["city"],
    },
)
MOST_TOKENS = 256


async def probe_live(session: Session, ref: ModelRef, *, patience: float) -> list[Evidence]:
    """What the model did when it was asked to call a tool: a yes, a refusal by its server, or nothing that is known.

    The model is loaded first; `patience` seconds count from then.

    Raises: BackendError, if it can't be loaded.
    """
    ref = await session.resolve(ref)
    request = ChatRequest(
        model=ref.name,
        messages=(Message(role="user", content=f"What is the weather in {CITY}? Call get_weather."),),
        max_tokens=MOST_TOKENS,
        options={"temperature": 0},
    )
    await _load(session, ref, request)
    offered = msgspec.structs.replace(request, tools=(WEATHER,), think=False)
    try:
        async with asyncio.timeout(patience):
            try:
                call = await _first_call(session, ref, offered)
            except CannotThink:  # nor leave it off
                call = await _first_call(session, ref, msgspec.structs.replace(offered, think=None))
    except ToolsRefused as refusal:
        return [_found("native_route", Answer.NO, f"it refused tools: {refusal.message}")]
    except TimeoutError:
        return [_found("tools", Answer.UNKNOWN, f"it didn't call the test tool within {patience:g} s")]
    except BackendError as error:
        return [_found("tools", Answer.UNKNOWN, f"the live probe failed: {error.message}")]
    if call is None:
        return [_found("tools", Answer.UNKNOWN, "it answered the live probe with text")]
    if call.name != WEATHER.name or not _right(call):
        return [_found("tools", Answer.UNKNOWN, "it called a tool in the live probe, but not the right one rightly")]
    return [
        _found("tools", Answer.YES, "it called the test tool with the right argument"),
        _found("native_route", Answer.YES, "a tool went through to it, and its call came back"),
    ]


async def _load(session: Session, ref: ModelRef, request: ChatRequest) -> None:
    warm_up = msgspec.structs.replace(request, max_tokens=1)
    async with aclosing(session.backend(ref).stream(msgspec.structs.replace(warm_up, model=ref.name))) as events:
        async for _ in events:
            return


async def _first_call(session: Session, ref: ModelRef, request: ChatRequest) -> ToolCall | None:
    """Straight to the backend: a turn would go on without tools where they are refused."""
    async with aclosing(session.backend(ref).stream(request)) as events:
        async for event in events:
            if isinstance(event, ToolCallEvent):
                return event.call
    return None


def _right(call: ToolCall) -> bool:
    arguments = call.arguments
    return isinstance(arguments, dict) and str(arguments.get("city", "")).strip().lower() == CITY.lower()


def _found(claim: str, answer: Answer, detail: str) -> Evidence:
    return Evidence(claim, answer, Source.OBSERVED, detail, time.time())
