"""A model is to be loaded before it is asked anything, or to go: done by whoever runs it, or else not claimed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from callgate.backends import ShowsPrompts, Unloads, place_of
from callgate.gateway.asgi import Refused
from callgate.gateway.dialect import Failure
from callgate.runtime import Session
from callgate.vocabulary import ChatRequest, Message, ModelRef
from callgate.wire import HttpClient, Patience, ollama_base_url

_WORD = Message(role="user", content="hello")


class Loads:
    """Its connections are its own: it may take long."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._http = HttpClient()

    async def load(self, ref: ModelRef, request: ChatRequest) -> None:
        """Returns when it is there. Other servers than an Ollama have what they serve, and see to it themselves.

        Raises: as `Backend.stream` does.
        """
        if ref.scheme == "ollama":
            return await self._tell_ollama(ref, request)
        backend = self._session.backend(ref)
        if _is_ours(ref) and isinstance(backend, ShowsPrompts):
            await backend.rendered(msgspec.structs.replace(request, model=ref.name, messages=(_WORD,)), may_load=True)
        return None

    async def unload(self, refs: Sequence[ModelRef], request: ChatRequest) -> None:
        """Wherever it is. Raises: Refused, if nobody can; BackendError."""
        able = [ref for ref in refs if ref.scheme == "ollama" or _is_ours(ref)]
        if not able:
            raise Refused(_stays(refs[0]))
        for ref in able:
            backend = self._session.backend(ref)
            if ref.scheme == "ollama":
                await self._tell_ollama(ref, request)
            elif isinstance(backend, Unloads):
                await backend.unload(ref.name)

    async def close(self) -> None:
        await self._http.close()

    async def _tell_ollama(self, ref: ModelRef, request: ChatRequest) -> None:
        """In Ollama's own way: a request that says nothing. Its options matter for how a model is loaded."""
        settings = self._session.settings
        limits = settings.timeouts
        options = {name: value for name, value in request.options.items() if name != "keep_alive"}
        body: dict[str, object] = {"model": ref.name, "stream": False}
        if "keep_alive" in request.options:
            body["keep_alive"] = request.options["keep_alive"]
        if options:
            body["options"] = options
        await self._http.post_json(
            f"{ollama_base_url(ref.endpoint or settings.ollama.host)}/api/generate",
            body,
            patience=Patience(limits.connect, limits.first_byte or None, limits.between or None),
        )


def _is_ours(ref: ModelRef) -> bool:
    return place_of(ref)[0] == "llamacpp"


def _stays(ref: ModelRef) -> Failure:
    message = f"{ref.name[:200]!r} can't be unloaded from here"
    return Failure(status=409, kind="stays_loaded", message=message, hint="its own server may know how")
