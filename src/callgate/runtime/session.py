"""One turn of a model: plan, stream, mend; and what a session learns on the way.

For now the plan is to send tools as they are, and nothing is mended.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Self

import msgspec

from callgate.backends import Backend, backend_for, place_of
from callgate.runtime.detector import AsyncDetector
from callgate.settings import Settings, load_settings
from callgate.vocabulary import BackendError, ChatRequest, Event, ModelRef, Notice, ToolsRefused
from callgate.wire import HttpClient

log = logging.getLogger(__name__)


class Session:
    """Backends that are open, and what was seen of their models. Belongs to one event loop."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or load_settings()
        self._http = HttpClient()
        self._open: dict[tuple[str, str], Backend] = {}
        self._refused: dict[ModelRef, str] = {}
        """Models whose servers refused tools, with what they said."""

    def backend(self, ref: ModelRef) -> Backend:
        """Raises: UsageError, if nobody here can run such a model."""
        place = place_of(ref)
        if place not in self._open:
            self._open[place] = backend_for(ref, self._settings, self._http)
        return self._open[place]

    async def resolve(self, ref: ModelRef) -> ModelRef:
        """The model that `auto` means; any other is itself."""
        if ref.scheme != "auto":
            return ref
        async with AsyncDetector(self._settings) as detector:
            return await detector.resolve(ref)

    async def turn(self, ref: ModelRef, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """What the model `ref` answers to `request`, whatever model that names.

        If its server refuses tools, it is asked once more without them, and a notice says so; in later turns it isn't
        offered any.

        Raises: as `Backend.stream` does.
        """
        ref = await self.resolve(ref)
        request = msgspec.structs.replace(request, model=ref.name)
        refusal: ToolsRefused | None = None
        if request.tools and ref not in self._refused:
            try:
                async with aclosing(self.backend(ref).stream(request)) as events:
                    async for event in events:
                        yield event
            except ToolsRefused as error:
                refusal = error
                self._refused[ref] = error.message
                log.warning("%s", error.message)
            else:
                return
        if request.tools:
            yield Notice("tools_refused", f"tools are off: {self._refused[ref]}")
        plain = msgspec.structs.replace(request, tools=(), tool_choice=None, parallel_tool_calls=None)
        try:
            async with aclosing(self.backend(ref).stream(plain)) as events:
                async for event in events:
                    yield event
        except BackendError as error:
            raise refusal or error from None

    async def close(self) -> None:
        for backend in self._open.values():
            await backend.close()
        self._open.clear()
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()
