"""One turn of a model: plan, stream, mend; and what a session learns on the way.

For now the plan is to send tools as they are, and nothing is mended.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Self

import msgspec

from callgate.backends import Backend, Loading, LoadsModels, backend_for, place_of, require_tools
from callgate.runtime.detector import AsyncDetector
from callgate.settings import Settings, load_settings
from callgate.vocabulary import Answer, CallgateError, ChatRequest, Event, ModelRef, Notice, ToolsRefused
from callgate.wire import HttpClient

log = logging.getLogger(__name__)


class Session:
    """Backends that are open, and what was seen of their models. Belongs to one event loop."""

    def __init__(
        self, settings: Settings | None = None, *, on_loading: Callable[[Loading], None] | None = None
    ) -> None:
        self._settings = settings or load_settings()
        self._on_loading = on_loading
        self._http = HttpClient()
        self._detector = AsyncDetector(self._settings)
        self._open: dict[tuple[str, str], Backend] = {}
        self._without_tools: dict[ModelRef, Notice] = {}
        """Models that get no tools in this session, and what is said about it."""

    def backend(self, ref: ModelRef) -> Backend:
        """Raises: UsageError, if nobody here can run such a model."""
        place = place_of(ref)
        if place not in self._open:
            backend = self._open[place] = backend_for(ref, self._settings, self._http)
            if self._on_loading and isinstance(backend, LoadsModels):
                backend.tell_of_loading(self._on_loading)
        return self._open[place]

    async def resolve(self, ref: ModelRef) -> ModelRef:
        """The model that `auto` means; any other is itself."""
        return await self._detector.resolve(ref)

    async def turn(self, ref: ModelRef, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """What the model `ref` answers to `request`, whatever model that names.

        If its server refuses tools, it is asked once more without them, and a notice says so; in later turns it isn't
        offered any. Our own engine would drop tools without a word, so it isn't given any that a model can't take.

        Raises: as `Backend.stream` does; ModelRejected, if every model here must have tools and this one has none.
        """
        ref = await self.resolve(ref)
        request = msgspec.structs.replace(request, model=ref.name)
        await self._require(ref)
        if request.tools:
            await self._foresee(ref)
        refusal: ToolsRefused | None = None
        if request.tools and ref not in self._without_tools:
            try:
                async with aclosing(self.backend(ref).stream(request)) as events:
                    async for event in events:
                        yield event
            except ToolsRefused as error:
                refusal = error
                self._without_tools[ref] = Notice("tools_refused", f"tools are off: {error.message}")
                log.warning("%s", error.message)
            else:
                return
        if request.tools:
            yield self._without_tools[ref]
        plain = msgspec.structs.replace(request, tools=(), tool_choice=None, parallel_tool_calls=None)
        try:
            async with aclosing(self.backend(ref).stream(plain)) as events:
                async for event in events:
                    yield event
        except CallgateError as error:
            raise refusal or error from None

    async def _require(self, ref: ModelRef) -> None:
        if self._settings.models.require_tools and ref.scheme != "scripted":
            require_tools(await self._detector.capabilities(ref), ref.name)

    async def _foresee(self, ref: ModelRef) -> None:
        if ref in self._without_tools or place_of(ref)[0] != "llamacpp":
            return
        known = await self._detector.capabilities(ref)
        if known.tools is Answer.NO:
            why = next(found.detail for found in known.evidence if found.claim == "tools")
            self._without_tools[ref] = Notice("tools_unsupported", f"tools are off: {why}")

    async def close(self) -> None:
        for backend in self._open.values():
            await backend.close()
        self._open.clear()
        await self._detector.close()
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()
