"""The models in reach, with what is known of each: for the picker, for completion, and for names that people type."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import msgspec

from callgate.chat.cleaning import on_one_line
from callgate.chat.words import as_kept, in_thousands, name_of
from callgate.runtime import FoundModel, Session, discover_async
from callgate.vocabulary import CallgateError, Capabilities, ModelRef

PATIENCE_SECONDS = 2.0
"""For all that is to be known of all models, before somebody picks one of them."""
_BOXED = re.compile(r"^in the box.*")


class OnShelf(msgspec.Struct, frozen=True):
    found: FoundModel
    known: Capabilities | None = None

    @property
    def name(self) -> str:
        """What to type for it."""
        ref = self.found.ref
        return ref.name if ref.scheme in ("ollama", "tiny", "tiny-plain") and not ref.endpoint else as_kept(ref)

    @property
    def tools(self) -> str:
        if self.known is None:
            return "?"
        if self.known.is_embedding:
            return "embedding"
        return f"{self.known.tools}{'?' if self.known.guess else ''}"

    @property
    def context(self) -> str:
        return in_thousands(self.known.context_length) if self.known and self.known.context_length else ""

    @property
    def place(self) -> str:
        return on_one_line(_BOXED.sub("in the box", self.found.place))

    @property
    def summary(self) -> str:
        """`tools yes · 32k · Ollama`."""
        return " · ".join(filter(None, (f"tools {self.tools}" if self.known else "", self.context, self.place)))


class Shelf:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._models: tuple[OnShelf, ...] = ()
        self._filling: asyncio.Task[None] | None = None

    @property
    def models(self) -> tuple[OnShelf, ...]:
        """As of the last look."""
        return self._models

    def glance(self) -> tuple[OnShelf, ...]:
        """The same, for those who can't wait; if nobody has looked yet, somebody does now."""
        if self._filling is None:
            self._filling = asyncio.create_task(self._fill(refresh=False))
        return self._models

    async def soon(self) -> tuple[OnShelf, ...]:
        """The same, with what becomes known of them in a moment."""
        self.glance()
        if self._filling is not None:
            await asyncio.wait({self._filling}, timeout=PATIENCE_SECONDS)
        return self._models

    async def look(self, *, refresh: bool = False) -> tuple[OnShelf, ...]:
        """All there are now; many who ask at once wait for one look. To `refresh` is more than that."""
        if refresh and self._filling is not None:
            await asyncio.wait({self._filling})
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(self._fill(refresh))
        await asyncio.shield(self._filling)
        return self._models

    async def _fill(self, refresh: bool) -> None:
        try:
            if refresh:
                found = (await self._session.refresh()).models
            else:
                found = (await discover_async(self._session.settings)).models
        except CallgateError:
            return
        found = (*found, *_without_tools(found))
        self._models = tuple(OnShelf(model) for model in found)
        known = await asyncio.gather(*(self._known(model.ref) for model in found))
        self._models = tuple(OnShelf(model, knows) for model, knows in zip(found, known, strict=True))

    async def _known(self, ref: ModelRef) -> Capabilities | None:
        try:
            return (await self._session.find(ref)).capabilities
        except CallgateError:
            return None

    def meant(self, text: str) -> ModelRef:
        """The model that somebody calls so: a ref, or the name of one in reach. Raises: UsageError."""
        for model in self._models:
            if model.name == text:
                return model.found.ref
        ref = ModelRef.parse(text)
        if ref.scheme != "ollama" or text.startswith(("ollama:", "ollama+")):
            return ref
        refs = [model.found.ref for model in self._models]
        if ref in refs or ModelRef("ollama", f"{ref.name}:latest") in refs:
            return ref
        named = [model.found.ref for model in self._models if text in (model.found.name, name_of(model.found.ref))]
        return named[0] if len(named) == 1 else ref

    def alike(self, text: str) -> str | None:
        return next(iter(get_close_matches(text, [model.name for model in self._models], n=1)), None)

    async def close(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.gather(self._filling, return_exceptions=True)


def _without_tools(found: Iterable[FoundModel]) -> Iterator[FoundModel]:
    """The model in the box has a twin, which shows what a chat without tools is like."""
    for model in found:
        if model.ref.scheme == "tiny":
            yield msgspec.structs.replace(model, ref=ModelRef("tiny-plain", "tiny-plain"), name="tiny-plain")
