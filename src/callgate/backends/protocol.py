"""What every backend offers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import msgspec

from callgate.vocabulary import ChatRequest, Event, Facts, Means


class Loading(msgspec.Struct, frozen=True):
    """How far the loading of a model has come. Engines say nothing of it, so this is what can be told."""

    name: str
    seconds: float
    bytes: int
    """Of the model, with its cache."""


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


@runtime_checkable
class LoadsModels(Protocol):
    """A backend that loads models itself, and tells how it gets on."""

    def tell_of_loading(self, listener: Callable[[Loading], None]) -> None: ...


class Embedded(NamedTuple):
    vectors: list[list[float]]
    tokens: int | None = None
    """In all texts together, if somebody counted."""


@runtime_checkable
class Embeds(Protocol):
    """A backend whose models can turn texts into vectors."""

    async def embed(self, model: str, texts: Sequence[str]) -> Embedded:
        """A vector for each of `texts`. Raises: as `Backend.stream` does."""
        ...


@runtime_checkable
class Unloads(Protocol):
    """A backend that can free the memory that a model takes."""

    async def unload(self, model: str) -> None:
        """Once nobody uses it. Raises: NotFound, if there is no such model."""
        ...


@runtime_checkable
class TellsContexts(Protocol):
    """A backend that knows how much room the models have that it has loaded."""

    def contexts(self) -> Mapping[str, int]:
        """In tokens, by their names."""
        ...


@runtime_checkable
class StatesMeans(Protocol):
    """A backend that says itself what it honours of a request, instead of by the kind of its server."""

    def means(self, model: str) -> Means: ...
