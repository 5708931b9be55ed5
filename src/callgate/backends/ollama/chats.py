"""One turn after another with the models of one Ollama."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from callgate.backends.ollama.chunks import Answer, ErrorLine
from callgate.backends.ollama.context import Contexts, Fit
from callgate.backends.ollama.errors import failure, refusal, said_in, unreachable
from callgate.backends.ollama.names import not_there
from callgate.backends.ollama.prompts import prompt_in, render_only, would_load
from callgate.backends.ollama.request import body_of, encoded, offers_tools, options_of, prompt_tokens
from callgate.backends.ollama.server import Server
from callgate.backends.ollama.versions import SHOWN_PROMPTS, STREAMED_TOOLS, is_older, lacks
from callgate.backends.prompts import RenderedPrompt, WireRequest
from callgate.vocabulary import (
    BackendError,
    BadStatus,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Notice,
    StreamCut,
    Unreachable,
)
from callgate.wire import Incoming, Patience, post_stream, shown

_LINGER_SECONDS = 1.0
_LINGER_PIECES = 16


class Chats:
    def __init__(self, server: Server, patience: Patience) -> None:
        self._server = server
        self._patience = patience
        self._url = f"{server.endpoint}/api/chat"
        self._contexts = Contexts(lambda: server.get("/api/ps"), server.show)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """One turn.

        Raises: ToolsRefused, NotFound, CannotThink, CannotChat, BadSchema or CallNotParsed before any event;
        StreamFailed or StreamCut within an answer; Unreachable, BadStatus, BadAnswer; UsageError, if the request can't
        be written as JSON.
        """
        version = await self._version_for(request)
        fit, sent = await self._written(request, version)
        notices = [*_unheeded(request, version), *([fit.notice] if fit.notice else [])]
        answer = Answer(self._server.place)
        url = self._url
        patience = self._patience if request.stream else self._patience.for_a_whole_answer
        try:
            async with post_stream(self._server.http, url, sent, patience=patience) as incoming:
                while not answer.is_done:
                    for event in answer.read(await incoming.read()):
                        # Held back till now: a refusal has to come before any event.
                        while notices:
                            yield notices.pop(0)
                        if fit.to_verify and isinstance(event, Done):
                            for notice in await self._contexts.verify(request.model, fit.to_verify):
                                yield notice
                        yield event
                await _linger(incoming)
        except ErrorLine as line:
            raise failure(line.said, request, self._server.place, has_begun=answer.has_begun) from None
        except Unreachable as problem:
            raise unreachable(problem, self._server.place, url) from problem
        except BadStatus as problem:
            raise await self._explained(problem, request, version) from None

    async def wire(self, request: ChatRequest) -> WireRequest:
        """See `ShowsPrompts.wire`."""
        _, sent = await self._written(request, await self._version_for(request))
        return WireRequest(shown(self._url), sent)

    async def rendered(self, request: ChatRequest, *, may_load: bool) -> RenderedPrompt | None:
        """See `ShowsPrompts.rendered`. Ollama loads a model before it renders anything for it."""
        version = await self._server.version()
        if is_older(version, SHOWN_PROMPTS):
            return None
        _, sent = await self._written(request, version)
        body = msgspec.json.decode(sent)
        if not may_load and await self._would_load(body):
            return None
        try:
            answer = await self._server.http.post_json(self._url, render_only(body), patience=self._patience)
        except Unreachable as problem:
            raise unreachable(problem, self._server.place, self._url) from problem
        except BadStatus as problem:
            raise await self._explained(problem, request, version) from None
        return prompt_in(answer)

    async def embeddings(self, model: str, texts: Sequence[str]) -> object:
        """What the server says to `/api/embed`. Raises: as `stream` does before any event."""
        url = f"{self._server.endpoint}/api/embed"
        body = {"model": model, "input": list(texts)}
        try:
            return await self._server.http.post_json(url, body, patience=self._patience)
        except Unreachable as problem:
            raise unreachable(problem, self._server.place, url) from problem
        except BadStatus as problem:
            raise await self._explained(problem, ChatRequest(model=model, messages=()), None) from None

    async def _would_load(self, body: Mapping[str, Any]) -> bool:
        try:
            return would_load(body, await self._server.get("/api/ps"))
        except BackendError:
            return True

    async def _version_for(self, request: ChatRequest) -> str | None:
        """Only tools depend on it."""
        return await self._server.version() if offers_tools(request) else None

    async def _written(self, request: ChatRequest, version: str | None) -> tuple[Fit, bytes]:
        """The request as it is sent, and the context that it was fitted into."""
        stream = request.stream and not is_older(version, STREAMED_TOOLS)
        body = body_of(request, stream=stream)
        sent = encoded(body)
        if (chosen := options_of(request).get("num_ctx")) is not None:
            self._contexts.was_set(request.model, chosen)
            fit = Fit()
        else:
            fit = await self._contexts.fit(request.model, prompt_tokens(request, sent))
        asks_for_room = chosen is not None or fit.num_ctx is not None or fit.notice is not None
        if request.whole_prompt and asks_for_room:
            body.setdefault("truncate", False)  # which older ones don't know, and cut all the same
        elif fit.num_ctx is None:
            return fit, sent
        if fit.num_ctx is not None:
            body["options"] = {**body.get("options", {}), "num_ctx": fit.num_ctx}
        return fit, encoded(body)

    async def _explained(self, problem: BadStatus, request: ChatRequest, version: str | None) -> CallgateError:
        said = said_in(problem.body)
        if problem.status != 404 or "model" not in said or "not found" not in said:
            return refusal(problem, request, self._server.place, version)
        known: list[str] = []
        with suppress(BackendError):
            known = await self._server.names()
        return not_there(request.model, self._server.place, known)


def _unheeded(request: ChatRequest, version: str | None) -> Iterator[Notice]:
    """What of the request this server won't do."""
    if not offers_tools(request):
        return
    yield from lacks(request, version)
    if request.tool_choice not in (None, "auto"):
        yield Notice("tool_choice_ignored", f"Ollama has no tool_choice: {request.tool_choice!r} is up to the model")
    if request.parallel_tool_calls is False:
        yield Notice("tool_choice_ignored", "Ollama has no parallel_tool_calls: the model may call several tools")


async def _linger(incoming: Incoming) -> None:
    """Till the end of an answer that is whole, if it comes soon: only then can its connection be kept."""
    if incoming.is_over:
        return
    import asyncio

    with suppress(TimeoutError, StreamCut):
        async with asyncio.timeout(_LINGER_SECONDS):
            for _ in range(_LINGER_PIECES):
                if not await incoming.read():
                    return
