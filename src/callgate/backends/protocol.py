"""What every backend offers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from callgate.vocabulary import ChatRequest, Event, Facts


class Backend(Protocol):
    """Somebody who runs models."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """One turn of the model: events in the order in which they happened, `Done` at the end.

        Closing the generator (`aclose`) stops the generation. Without tools there are only text, thinking, usage and
        done, and the request is a plain one.

        Raises: ToolsRefused, before any event, if it takes no tools for this model; NotFound, if there is no such
        model; another BackendError, if it fails.
        """
        ...

    async def models(self) -> list[str]:
        """The names of the models that it has. Raises: BackendError."""
        ...

    async def facts(self, model: str) -> Facts:
        """Raises: NotFound, if it has no such model; BackendError, if it doesn't answer."""
        ...

    async def close(self) -> None: ...
