"""One Ollama server as a backend: what it knows about models, and what they answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence

from callgate.backends.embeddings import vectors_in
from callgate.backends.ollama.chats import Chats
from callgate.backends.ollama.errors import unreachable
from callgate.backends.ollama.names import entry_for, names, not_there, text
from callgate.backends.ollama.server import Server, version_in
from callgate.backends.prompts import RenderedPrompt, WireRequest
from callgate.backends.protocol import Embedded
from callgate.detect import ollama_templates
from callgate.settings import Settings
from callgate.vocabulary import BadAnswer, BadStatus, ChatRequest, Event, Facts, ModelRef, ServerKind, Unreachable
from callgate.wire import HttpClient, Patience, ollama_base_url

GRACE_SECONDS = 1.0
"""For what is good to know but not needed, from when the rest is there."""


def make(ref: ModelRef, settings: Settings, http: HttpClient) -> OllamaBackend:
    """The server that `ref` names, or else the one of the settings."""
    limits = settings.timeouts
    return OllamaBackend(
        ollama_base_url(ref.endpoint or settings.ollama.host),
        http,
        timeout=settings.detect.server_timeout,
        patience=Patience(limits.connect, limits.first_byte or None, limits.between or None),
    )


class OllamaBackend:
    """One Ollama server. What it learns of contexts and versions holds for as long as it is open."""

    def __init__(self, endpoint: str, http: HttpClient, *, timeout: float, patience: Patience | None = None) -> None:
        self.endpoint = endpoint
        self._server = Server(endpoint, http, timeout=timeout)
        self._chats = Chats(self._server, patience or Patience())

    def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """One turn of the model: see `Backend.stream`, and `Chats.stream` for what it raises."""
        return self._chats.stream(request)

    async def wire(self, request: ChatRequest) -> WireRequest:
        """What `stream` would send."""
        return await self._chats.wire(request)

    async def rendered(self, request: ChatRequest, *, may_load: bool = False) -> RenderedPrompt | None:
        """The prompt that it makes of the request: see `ShowsPrompts.rendered`."""
        return await self._chats.rendered(request, may_load=may_load)

    async def embed(self, model: str, texts: Sequence[str]) -> Embedded:
        """See `Embeds.embed`."""
        answer = await self._chats.embeddings(model, texts)
        return vectors_in(answer, self._server.place, len(texts))

    async def facts(self, model: str) -> Facts:
        """Raises: NotFound, if it has no such model; BackendError, if it doesn't answer."""
        beside = [asyncio.ensure_future(self._server.get(path)) for path in ("/api/tags", "/api/ps", "/api/version")]
        try:
            show = await self._server.show(model)
        except BadStatus as error:
            if error.status != 404:
                raise
            tags, *_ = await _in_time(beside)
            raise not_there(model, self._server.place, names(tags)) from None
        except Unreachable as error:
            raise unreachable(error, self._server.place, f"{self.endpoint}/api/show") from error
        finally:
            tags, running, version = await _in_time(beside)
        if not isinstance(show, dict):
            raise BadAnswer(f"{self._server.place} sent no object for /api/show", hint="is this an Ollama?")
        listing = entry_for(tags, model)
        return Facts(
            name=model,
            templates=ollama_templates(show),
            server=ServerKind.OLLAMA,
            server_version=version_in(version),
            endpoint=self.endpoint,
            digest=text(listing, "digest"),
            answer=show,
            listing=listing,
            running=entry_for(running, model),
            at=time.time(),
        )

    async def listed(self, model: str) -> Facts:
        """What its lists say of a model, without asking for the model itself: for many at once this costs but one.

        Raises: BackendError.
        """
        beside = [asyncio.ensure_future(self._server.get(path)) for path in ("/api/ps", "/api/version")]
        try:
            tags = await self._server.get("/api/tags")
        except Unreachable as error:
            raise unreachable(error, self._server.place, f"{self.endpoint}/api/tags") from error
        finally:
            running, version = await _in_time(beside)
        listing = entry_for(tags, model)
        return Facts(
            name=model,
            server=ServerKind.OLLAMA,
            server_version=version_in(version),
            endpoint=self.endpoint,
            digest=text(listing, "digest"),
            listing=listing,
            running=entry_for(running, model),
            at=time.time(),
        )

    async def models(self) -> list[str]:
        """The names of the models that it has. Raises: BackendError."""
        return await self._server.names()

    def digest_of(self, model: str) -> str | None:
        """Of the model as it was when this server last listed its models."""
        return self._server.digest_of(model)

    async def close(self) -> None:
        """What it has asked and not yet heard is dropped. The HTTP client is its owner's to close."""
        await self._server.close()


async def _in_time(questions: Sequence[asyncio.Future[object]]) -> list[object]:
    """The answers that are there within a moment; `None` for each of the others."""
    answered, late = await asyncio.wait(questions, timeout=GRACE_SECONDS)
    for question in late:
        question.cancel()
    return [
        question.result() if question in answered and not question.cancelled() and not question.exception() else None
        for question in questions
    ]
