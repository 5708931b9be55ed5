"""The texts of a stream as callgate's backends give them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from callgate.backends import Backend
from callgate.vocabulary import AssistantDelta, ChatRequest, Message
from callgate.wire import HttpClient


async def texts_of(make: Callable[[HttpClient], Backend], model: str) -> AsyncIterator[str]:
    request = ChatRequest(model=model, messages=(Message(role="user", content="Hi"),))
    async with HttpClient() as http, aclosing(make(http).stream(request)) as events:
        async for event in events:
            if isinstance(event, AssistantDelta):
                yield event.text
