"""The Ollama behind: what is asked of it as it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from callgate.gateway.asgi import ClientGone, Exchange, Refused
from callgate.gateway.dialect import Failure
from callgate.gateway.listening import while_listened_to
from callgate.settings import Settings
from callgate.vocabulary import BackendError, Unreachable
from callgate.wire import HttpClient, Patience, ollama_base_url

_ASK_SECONDS = 2.0
_ANY_STATUS = tuple(range(300, 600))


class OllamaBehind:
    """Its connections are its own: what is passed on may take hours."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._http = HttpClient()

    async def pass_on(self, exchange: Exchange) -> None:
        """Neither a client's key nor any other of its headers goes along. Raises: Refused, if there is no Ollama."""
        url = f"{ollama_base_url(self._settings.ollama.host)}{exchange.path}"
        announced = exchange.headers.get("content-type", "application/json")
        headers = {"Content-Type": announced, "Accept-Encoding": "identity"}
        if (length := exchange.headers.get("content-length", "")).isdecimal():
            headers["Content-Length"] = length
        has_come = asyncio.Event()
        body = None if exchange.method == "HEAD" else _noting(exchange.pieces(), has_come)
        if body is None:
            has_come.set()
        try:
            async with (
                while_listened_to(exchange, after=has_come),
                self._http.open(
                    exchange.method,
                    url,
                    headers=headers,
                    body=body,
                    expect=_ANY_STATUS,
                    patience=Patience(first_byte=None, between=None),
                ) as response,
            ):
                await exchange.start(response.status, response.headers.get("Content-Type", "application/json"))
                async for piece in response.content.iter_any():
                    await exchange.piece(piece)
                await exchange.end()
        except BackendError as error:
            if exchange.is_gone:  # and so it couldn't be sent on
                raise ClientGone from None
            if exchange.status is not None or not isinstance(error, Unreachable):
                raise
            raise Refused(
                Failure(
                    status=501,
                    kind="no_ollama",
                    message=f"this is for an Ollama, and there is none behind: {error.message}",
                    hint="`callgate pull` fetches models without one",
                )
            ) from None

    async def running(self) -> Sequence[Mapping[str, Any]]:
        """What it has loaded; nothing, where there is no Ollama."""
        url = f"{ollama_base_url(self._settings.ollama.host)}/api/ps"
        try:
            answer = await self._http.get_json(url, timeout=_ASK_SECONDS)
        except BackendError:
            return ()
        models = answer.get("models") if isinstance(answer, dict) else None
        return [model for model in models if isinstance(model, dict)] if isinstance(models, list) else ()

    async def close(self) -> None:
        await self._http.close()


async def _noting(pieces: AsyncIterator[bytes], has_come: asyncio.Event) -> AsyncIterator[bytes]:
    """Says when there is nothing more to come, however that came about."""
    try:
        async for piece in pieces:
            yield piece
    finally:
        has_come.set()
