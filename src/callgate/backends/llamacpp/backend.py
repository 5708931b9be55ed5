"""GGUF files, run by llama.cpp in children of ours: a supervisor, and the OpenAI-compatible client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial

import msgspec

from callgate.backends.embeddings import vectors_in
from callgate.backends.llamacpp.files import ModelFile, bytes_to_load, context_for, model_file, version_of
from callgate.backends.llamacpp.process import EngineProcess, require_engine
from callgate.backends.llamacpp.spec import EngineSpec
from callgate.backends.llamacpp.supervisor import Supervisor, Wanted
from callgate.backends.llamacpp.verdict import examined
from callgate.backends.openai import OpenAIBackend
from callgate.backends.prompts import RenderedPrompt, WireRequest
from callgate.backends.protocol import Embedded, Loading
from callgate.backends.requirements import require_tools
from callgate.registry import Registry
from callgate.settings import Settings
from callgate.vocabulary import (
    IN_THE_BOX,
    BackendError,
    BadAnswer,
    CannotChat,
    ChatRequest,
    EngineFailed,
    Event,
    Facts,
    ModelRef,
    StreamCut,
    TemplateTooCostly,
    Unreachable,
)
from callgate.wire import HttpClient

QUESTION_SECONDS = 30.0
_ANY_ENGINE = "http://llama.cpp"
_IN_THE_BOX_OPTIONS = {"temperature": 0, "seed": 1}
_DYING_SECONDS = 0.5
"""A child's connection may end a little before its process does."""


class LlamaCppBackend:
    """Runs GGUF files, several at once where they fit. A model's name is its path, or `tiny` or `tiny-plain`.

    Belongs to one event loop; its connections belong to `http`.
    """

    def __init__(self, settings: Settings, http: HttpClient) -> None:
        self._settings = settings
        self._http = http
        options = settings.llamacpp
        server = options.server
        start = EngineProcess.of_our_engine if server is None else partial(EngineProcess.of_a_server, server)
        self._supervisor = Supervisor(
            start,
            http,
            budget=options.memory_budget * 10**6,
            load_seconds=settings.timeouts.first_byte or None,
        )
        self._registry = Registry.in_folder(settings.data_folder)
        self._files: dict[str, tuple[tuple[int, int], ModelFile]] = {}
        self._admitted: set[tuple[str, tuple[int, int]]] = set()

    def tell_of_loading(self, listener: Callable[[Loading], None]) -> None:
        self._supervisor.on_loading = listener

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """See `Backend.stream`. Raises also: ModelRejected, if tools are required and the model has none;
        EngineFailed, if it can't be loaded, or its engine dies; NotFound or ModelFileError, if it is no model.
        """
        file, asked = await self._asked(request)
        await self._admit(request.model, file)
        has_said = False
        for may_try_again in (True, False):
            async with self._supervisor.running(self._wanted(file)) as engine:
                try:
                    async with aclosing(self._client(engine).stream(asked)) as events:
                        async for event in events:
                            has_said = True
                            yield event
                except (Unreachable, StreamCut, BadAnswer) as error:
                    failure = await self._blamed(engine, error)
                    # It may have died long ago, without anybody noticing.
                    if has_said or not may_try_again or not isinstance(failure, EngineFailed):
                        raise failure from None
                else:
                    return

    async def wire(self, request: ChatRequest) -> WireRequest:
        """See `ShowsPrompts.wire`. An engine has no address before it is started."""
        _, asked = await self._asked(request)
        return await OpenAIBackend(_ANY_ENGINE, self._http, timeout=QUESTION_SECONDS).wire(asked)

    async def rendered(self, request: ChatRequest, *, may_load: bool = False) -> RenderedPrompt | None:
        """See `ShowsPrompts.rendered`."""
        if not may_load:
            return None
        file, asked = await self._asked(request)
        await self._admit(request.model, file)
        async with self._supervisor.running(self._wanted(file)) as engine:
            try:
                prompt = await self._client(engine).rendered(asked, may_load=True)
            except (Unreachable, StreamCut, BadAnswer) as error:
                raise await self._blamed(engine, error) from None
        return prompt and RenderedPrompt(prompt.text, "llama.cpp", prompt.tokens)

    async def models(self) -> list[str]:
        """The names of the models that are loaded."""
        return list(self._supervisor.loaded())

    def contexts(self) -> Mapping[str, int]:
        """See `TellsContexts.contexts`."""
        return self._supervisor.loaded()

    async def facts(self, model: str) -> Facts:
        """What the file's header says. Raises: NotFound, UsageError, HeaderError."""
        return (await self._file(model)).facts

    async def loaded_facts(self, model: str) -> Facts:
        """What llama.cpp itself says of the model, once it has loaded it. Raises as `stream` does."""
        file = await self._file(model)
        await self._admit(model, file)
        async with self._supervisor.running(self._wanted(file)) as engine:
            try:
                return await self._client(engine).facts(file.name)
            except (Unreachable, BadAnswer) as error:
                raise await self._blamed(engine, error) from None

    async def embed(self, model: str, texts: Sequence[str]) -> Embedded:
        """A vector for each of `texts`. Raises as `stream` does."""
        file = await self._file(model)
        async with self._supervisor.running(self._wanted(file, embedding=True)) as engine:
            try:
                answer = await self._http.post_json(
                    f"{engine.url}/v1/embeddings",
                    {"model": file.name, "input": list(texts), "encoding_format": "float"},
                    headers={"Authorization": f"Bearer {engine.key.reveal()}"},
                    timeout=self._settings.timeouts.first_byte,
                )
            except (Unreachable, BadAnswer) as error:
                raise await self._blamed(engine, error) from None
        return vectors_in(answer, "llama.cpp", len(texts))

    async def unload(self, model: str) -> None:
        """See `Unloads.unload`."""
        file = await self._file(model)
        await self._supervisor.unload(file.name, file.path)

    async def close(self) -> None:
        await self._supervisor.close()

    async def _asked(self, request: ChatRequest) -> tuple[ModelFile, ChatRequest]:
        """The file, and what its engine is asked."""
        file = await self._file(request.model)
        if file.facts.header is not None and _is_for_embedding(file.facts):
            raise CannotChat(f"{request.model!r} is a model for embedding", hint="choose one that can chat")
        options = {**_IN_THE_BOX_OPTIONS, **request.options} if file.is_in_the_box else request.options
        # Only so it says which of several texts ended an answer.
        extra = {"verbose": True, **request.extra} if options.get("stop") else request.extra
        return file, msgspec.structs.replace(request, model=file.name, options=options, extra=extra)

    async def _file(self, model: str) -> ModelFile:
        """Its header is read again when the file has changed."""
        version = (0, 0) if model in IN_THE_BOX else version_of(model)
        known = self._files.get(model)
        if known is None or known[0] != version:
            known = self._files[model] = version, await asyncio.to_thread(model_file, model)
        return known[1]

    async def _admit(self, model: str, file: ModelFile) -> None:
        """llama.cpp renders whatever template a file brings, until the machine has no memory left: so we look first."""
        key = model, version_of(file.path)
        if key in self._admitted or (file.is_in_the_box and not self._settings.models.require_tools):
            return
        finding = await asyncio.to_thread(examined, file.facts)
        if isinstance(finding.flaw, TemplateTooCostly):
            raise TemplateTooCostly(f"{model!r} won't be loaded: {finding.flaw.message}", hint="choose another model")
        if self._settings.models.require_tools:
            require_tools(finding.capabilities, model)
        self._admitted.add(key)

    def _wanted(self, file: ModelFile, *, embedding: bool = False) -> Wanted:
        require_engine(self._settings.llamacpp.server)
        options = self._settings.llamacpp
        context = self._context_said_of(file) or context_for(file.facts, options.context)
        spec = EngineSpec(
            path=file.path,
            name=file.name,
            template=file.template,
            context=context,
            # The model in the box is faster with one thread on a busy machine, and says the same everywhere.
            threads=1 if file.is_in_the_box else options.threads or _cores(),
            gpu_layers=options.gpu_layers,
            flash_attention=options.flash_attention,
            kv_type=options.kv_type,
            projector=None if file.is_in_the_box or embedding else options.projector,
            embedding=embedding,
            pooling=None if not embedding or _is_for_embedding(file.facts) else "mean",
        )
        return Wanted(spec, version_of(file.path), bytes_to_load(file, context, options.kv_type))

    def _context_said_of(self, file: ModelFile) -> int | None:
        """What the user said of this very model outweighs what the settings say of all."""
        ref = ModelRef(file.name, file.name) if file.is_in_the_box else ModelRef("file", file.path)
        record = self._registry.get(ref)
        return record.manual_context if record else None

    async def _blamed(self, engine: EngineProcess, error: BackendError) -> BackendError:
        """The engine's death, if that is what is behind the error. One that hangs is ended, and started anew later."""
        if await engine.ends_within(_DYING_SECONDS):
            return await engine.failure()
        if await engine.answers(self._http):
            return error
        await engine.stop()
        return EngineFailed(f"the engine hung while it was running {engine.name!r}", hint="it starts anew: ask again")

    def _client(self, engine: EngineProcess) -> OpenAIBackend:
        timeouts = self._settings.timeouts
        return OpenAIBackend(
            engine.url,
            self._http,
            timeout=QUESTION_SECONDS,
            timeouts=timeouts,
            api_key=engine.key,
            called="llama.cpp",
        )


def make(_: ModelRef, settings: Settings, http: HttpClient) -> LlamaCppBackend:
    return LlamaCppBackend(settings, http)


def _is_for_embedding(facts: Facts) -> bool:
    header = facts.header or {}
    pooling = header.get(f"{header.get('general.architecture')}.pooling_type")
    return isinstance(pooling, int) and pooling > 0


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
