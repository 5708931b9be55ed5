"""The Ollamas behind: what is asked of one of them as it is.

That is the one that has the model; the first that answers, where none has it yet. The first is `OLLAMA_HOST`'s, then
those that the owner named.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from callgate.gateway.asgi import ClientGone, Exchange, Refused
from callgate.gateway.dialect import Failure
from callgate.gateway.discretion import discreet
from callgate.gateway.failures import LOOP
from callgate.gateway.listening import Watch
from callgate.gateway.options import ServeLimits
from callgate.runtime import known_places
from callgate.settings import Settings
from callgate.vocabulary import BackendError, BadStatus, ModelRef, NotFound, Unreachable
from callgate.wire import HttpClient, Patience, ollama_base_url

Refs = Callable[[str], Awaitable[Sequence[ModelRef]]]
"""What a name stands for. Raises: NotFound."""

_ASK_SECONDS = 2.0
_ANY_STATUS = tuple(range(300, 600))
_LATEST = ":latest"
_IN_NAME = ("model", "name")
_NAMED_IN = {
    "/api/pull": _IN_NAME,
    "/api/push": _IN_NAME,
    "/api/delete": _IN_NAME,
    "/api/copy": ("source",),
    "/api/create": ("from",),
}
"""Where a body says which model has to be there. What is uploaded for one that is to be made goes to the first."""
_OF_OLLAMAS_OWN = ("/api/push", "/api/delete", "/api/copy")


class OllamaBehind:
    """Its connections are its own: what is passed on may take hours."""

    def __init__(self, settings: Settings, refs: Refs, limits: ServeLimits, watch: Watch) -> None:
        self._settings = settings
        self._refs = refs
        self._limits = limits
        self._watch = watch
        self._http = HttpClient()

    async def pass_on(self, exchange: Exchange) -> None:
        """Neither a client's key nor any other of its headers goes along.

        Raises: Refused, if there is no Ollama, or the model isn't one of an Ollama's; BackendError.
        """
        announced = exchange.headers.get("content-type", "application/json")
        headers = {"Content-Type": announced, "Accept-Encoding": "identity"}
        has_come = asyncio.Event()
        body: bytes | AsyncIterator[bytes] | None = None
        name = ""
        if fields := _NAMED_IN.get(exchange.path):
            body = await exchange.body(most=self._limits.body_bytes, seconds=self._limits.body_seconds)
            name = _name_in(body, fields)
        elif exchange.method != "HEAD":
            if (length := exchange.headers.get("content-length", "")).isdecimal():
                headers["Content-Length"] = length
            body = _noting(exchange.pieces(seconds=self._limits.body_seconds), has_come)
        if not isinstance(body, AsyncIterator):
            has_come.set()
        try:
            with self._watch.while_listened_to(exchange, after=has_come):
                async with self._http.open(
                    exchange.method,
                    f"{await self._place_for(exchange.path, name)}{exchange.path}",
                    headers=headers,
                    body=body,
                    expect=_ANY_STATUS,
                    patience=Patience(first_byte=None, between=None),
                ) as response:
                    await exchange.start(response.status, response.headers.get("Content-Type", "application/json"))
                    async for piece in response.content.iter_any():
                        await exchange.piece(piece)
                    await exchange.end()
        except BackendError as error:
            if exchange.is_gone:  # and so it couldn't be sent on
                raise ClientGone from None
            if exchange.status is not None or not isinstance(error, Unreachable):
                raise
            raise Refused(_no_ollama(error)) from None

    async def running(self) -> Sequence[Mapping[str, Any]]:
        """What all of them have loaded; nothing, where there is no Ollama."""
        each = await asyncio.gather(*(self._running(url) for url in self._places()))
        return [model for models in each for model in models]

    async def close(self) -> None:
        await self._http.close()

    async def _running(self, url: str) -> Sequence[Mapping[str, Any]]:
        try:
            answer = await self._http.get_json(f"{url}/api/ps", timeout=_ASK_SECONDS)
        except BackendError:
            return ()
        models = answer.get("models") if isinstance(answer, dict) else None
        return [model for model in models if isinstance(model, dict)] if isinstance(models, list) else ()

    def _places(self) -> list[str]:
        """Where there may be one."""
        places = [place.url for place in known_places(self._settings) if place.named or place.is_local_ollama]
        return places or [ollama_base_url(self._settings.ollama.host)]

    async def _place_for(self, path: str, name: str) -> str:
        places = self._places()
        is_its_own = path in _OF_OLLAMAS_OWN
        if name and (is_its_own or len(places) > 1):
            try:
                found = await self._refs(name)
            except NotFound:
                found = ()
            of_ollama = [ref for ref in found if ref.scheme == "ollama" and ref.name in (name, name + _LATEST)]
            if of_ollama:
                return ollama_base_url(of_ollama[0].endpoint or self._settings.ollama.host)
            if found and is_its_own:
                raise Refused(_not_ollamas(name))
        if len(places) == 1:
            return places[0]
        likely = await asyncio.gather(*(self._likeliness(url) for url in places))
        return places[likely.index(max(likely))]

    async def _likeliness(self, url: str) -> int:
        """That an Ollama is there: sure, beyond a server of ours, or not."""
        try:
            async with self._http.open("GET", f"{url}/api/version", timeout=_ASK_SECONDS) as response:
                return 1 if "X-Callgate" in response.headers else 2
        except BadStatus as error:
            return 1 if error.status == LOOP else 0
        except BackendError:
            return 0


def _name_in(body: bytes, fields: Sequence[str]) -> str:
    """Empty, where there is none: then it is for an Ollama to say what is wrong."""
    try:
        said = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ""
    names = (said.get(field) for field in fields) if isinstance(said, dict) else ()
    return next((name for name in names if isinstance(name, str) and name), "")


def _no_ollama(error: BackendError) -> Failure:
    return Failure(
        status=404,
        kind="no_ollama",
        message=f"this is for an Ollama, and there is none behind: {discreet(error.message)}",
        hint="`callgate pull` fetches models without one",
    )


def _not_ollamas(name: str) -> Failure:
    name = name[:200]
    hint = None if ":" in name else f"if an Ollama has one, too, that is {name + _LATEST!r}"
    return Failure(status=400, kind="not_ollamas", message=f"{name!r} is callgate's here, not an Ollama's", hint=hint)


async def _noting(pieces: AsyncIterator[bytes], has_come: asyncio.Event) -> AsyncIterator[bytes]:
    """Says when there is nothing more to come, however that came about."""
    try:
        async for piece in pieces:
            yield piece
    finally:
        has_come.set()
