"""Servers that speak OpenAI's protocol: llama-server, LM Studio, vLLM, SGLang, and any other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

import msgspec

from callgate.backends.embeddings import vectors_in
from callgate.backends.openai.failures import Failures, is_about_a_missing_model
from callgate.backends.openai.reading import Reading
from callgate.backends.openai.request import body_of
from callgate.backends.openai.server import OpenAIServer, model_names
from callgate.backends.prompts import RenderedPrompt, WireRequest
from callgate.backends.protocol import Embedded
from callgate.detect import entry_of
from callgate.settings import Secret, Timeouts
from callgate.vocabulary import (
    BackendError,
    BadAnswer,
    BadStatus,
    ChatRequest,
    Event,
    Facts,
    NotFound,
    ServerKind,
    StreamCut,
)
from callgate.wire import HttpClient, Incoming, Patience, SseDecoder, post_stream, shown

LARGEST_BODY = 64 << 20
"""Bytes of an answer that comes as one JSON object."""
LAST_WORDS_SECONDS = 5.0
"""For the usage, and the word that this is all, after the end of the answer itself."""
_GOODBYE_SECONDS = 0.1


class OpenAIBackend:
    """One OpenAI-compatible server. Its connections belong to `http`; `timeout` is for short questions.

    Errors name it by its URL, or as it is `called`.
    """

    def __init__(
        self,
        endpoint: str,
        http: HttpClient,
        *,
        timeout: float,
        timeouts: Timeouts | None = None,
        api_key: Secret | None = None,
        called: str | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._http = http
        limits = timeouts or Timeouts()
        self._patience = Patience(limits.connect, limits.first_byte or None, limits.between or None)
        self._patience_with_whole = self._patience.for_a_whole_answer
        self._key = api_key
        self._headers = {"Authorization": f"Bearer {api_key.reveal()}"} if api_key else {}
        self._server = OpenAIServer(endpoint, http, timeout=timeout, headers=self._headers, called=called)
        self._url = f"{self._server.base}/chat/completions"

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """See `Backend.stream`. Raises: ToolsRefused, NotFound, and every other BackendError."""
        if not request.model:
            request = await self._named(request)
        reading = Reading(self._server.place, request)
        patience = self._patience if request.stream else self._patience_with_whole
        try:
            async with post_stream(
                self._http, self._url, body_of(request), patience=patience, headers=self._headers
            ) as incoming:
                if incoming.content_type == "text/html":
                    raise BadAnswer(f"{incoming.place} sent a web page", hint="is this an OpenAI-compatible server?")
                # How it starts shows whether it is a stream of events, whatever its type says.
                piece = (await incoming.read()).lstrip() or await _past_white_space(incoming)
                if piece[:1] == b"{":
                    body = piece if incoming.is_over else await _whole_body(incoming, piece)
                    for event in reading.whole(body):
                        yield event
                else:
                    stream = SseDecoder(reading.place)
                    while True:
                        # At its end an event may lack its last empty line.
                        for data in stream.feed(piece) if piece else stream.close():
                            for event in reading.feed(data):
                                yield event
                        if reading.is_over or not piece:
                            break
                        piece = await (incoming.read() if reading.finish is None else _last_words(incoming))
                for event in reading.close():
                    yield event
                if not incoming.is_over:
                    await _say_goodbye(incoming)
        except BadStatus as error:
            raise await self._explained(error, request) from None

    async def wire(self, request: ChatRequest) -> WireRequest:
        """See `ShowsPrompts.wire`."""
        return WireRequest(shown(self._url), body_of(await self._named(request)))

    async def rendered(self, request: ChatRequest, *, may_load: bool = False) -> RenderedPrompt | None:
        """See `ShowsPrompts.rendered`. Of all these servers, llama-server alone shows its prompts."""
        request = await self._named(request)
        facts = await self._server.facts(request.model)
        if facts.server is not ServerKind.LLAMA_SERVER:
            return None
        try:
            prompt = await self._server.prompt(body_of(request), may_load=may_load, patience=self._patience)
        except BadStatus as error:
            raise await self._explained(error, request) from None
        if prompt is None:
            return None
        tokens = await self._server.tokens(request.model, prompt, patience=self._patience)
        return RenderedPrompt(prompt, facts.server, tokens)

    async def _named(self, request: ChatRequest) -> ChatRequest:
        return request if request.model else msgspec.structs.replace(request, model=await self._server.only_model())

    async def embed(self, model: str, texts: Sequence[str]) -> Embedded:
        """See `Embeds.embed`."""
        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        url = f"{self._server.base}/embeddings"
        try:
            answer = await self._http.post_json(url, body, headers=self._headers, patience=self._patience)
        except BadStatus as error:
            raise await self._explained(error, ChatRequest(model=model, messages=())) from None
        return vectors_in(answer, self._server.place, len(texts))

    async def models(self) -> list[str]:
        """The names of the models that it has. Raises: BackendError."""
        return model_names(await self._server.models())

    async def facts(self, model: str) -> Facts:
        """Raises: NotFound, if it has no such model; BackendError, if it doesn't answer."""
        return await self._server.facts(model)

    async def close(self) -> None:
        """Nothing to do: what is open belongs to somebody else."""

    async def _explained(self, error: BadStatus, request: ChatRequest) -> BackendError | NotFound:
        if self._key:  # which some servers quote when they refuse it
            error.body = error.body.replace(self._key.reveal(), "…")
        known = Failures(self._server.place, request).of_status(error)
        if isinstance(known, BadStatus) and is_about_a_missing_model(error):
            with suppress(BackendError):
                models = await self._server.models()
                if entry_of(models, request.model) is None:
                    return self._server.no_such_model(request.model, models)
        return known


async def _past_white_space(incoming: Incoming) -> bytes:
    while piece := await incoming.read():
        if start := piece.lstrip():
            return start
    return b""


async def _last_words(incoming: Incoming) -> bytes:
    """All that matters has come. Some servers forget to say so, or to hang up."""
    with suppress(TimeoutError, StreamCut):
        async with asyncio.timeout(LAST_WORDS_SECONDS):
            return await incoming.read()
    return b""


async def _whole_body(incoming: Incoming, start: bytes) -> bytes:
    pieces, size = [start], len(start)
    while piece := await incoming.read():
        size += len(piece)
        if size > LARGEST_BODY:
            raise BadAnswer(f"{incoming.place} sent more than {LARGEST_BODY >> 20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


async def _say_goodbye(incoming: Incoming) -> None:
    """A connection can be used again if its answer was read to the very end."""
    with suppress(TimeoutError, BackendError):
        async with asyncio.timeout(_GOODBYE_SECONDS):
            while await incoming.read():
                pass
