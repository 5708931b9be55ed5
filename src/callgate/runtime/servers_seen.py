"""Which servers are there, of which kind and version? For somebody who wonders why something doesn't work."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec

from callgate.detect import recognise
from callgate.runtime.listing import OUR_HEADER, asked
from callgate.runtime.places import Knock, Place, known_places, place_at
from callgate.settings import Settings
from callgate.vocabulary import BackendError, BadAnswer, BadStatus, CallgateError, ServerKind, Unreachable
from callgate.wire import HttpClient, normalise_base_url, shown

SECONDS = 2.0
"""For one server to answer; all are asked at once."""
OURS = "callgate"
_REFUSALS = (401, 403)
_LONGEST_VERSION = 80
_VERSION_AT = {
    ServerKind.OLLAMA: ("/api/version", "version"),
    ServerKind.LLAMA_SERVER: ("/props", "build_info"),
    ServerKind.VLLM: ("/version", "version"),
    ServerKind.SGLANG: ("/get_server_info", "version"),
}


class SeenServer(msgspec.Struct, frozen=True, kw_only=True):
    """A place where a server may be, and what was found there."""

    name: str
    """What it is called in the settings, or who is usually there."""
    url: str
    """Without any password."""
    named: bool
    """Somebody expects it there."""
    is_there: bool = False
    kind: str | None = None
    version: str | None = None
    models: int | None = None
    milliseconds: int | None = None
    wants_key: bool = False
    problem: CallgateError | None = None
    """Why nothing could be found out, where somebody listens or should."""


async def look_at_servers(settings: Settings, seconds: float = SECONDS) -> list[SeenServer]:
    """All that are known, each within so many seconds. Raises: UsageError, if a setting is no good."""
    places = [*known_places(settings), *_api_that_was_named(settings)]
    knocking = seconds / 4
    answering = {place.url for place in await asyncio.to_thread(Knock(places).answered, knocking)}
    async with HttpClient() as http:
        return list(
            await asyncio.gather(
                *(
                    _looked_at(place, http, seconds - knocking) if place.url in answering else _absent(place)
                    for place in places
                )
            )
        )


def _api_that_was_named(settings: Settings) -> list[Place]:
    """Where somebody's key is for, if that isn't where everybody's is; no key is sent there."""
    if not settings.discovery.timeout or settings.origin("openai.base_url") == "default":
        return []
    place = place_at(settings.openai.base_url, "OpenAI's API")
    is_usual = normalise_base_url(settings.openai.base_url).base == normalise_base_url(place.url).base
    return [place] if is_usual else []  # of another version than the first we would ask something else


async def _absent(place: Place) -> SeenServer:
    hint = "start it with `ollama serve`, or let OLLAMA_HOST say where it is" if place.is_local_ollama else None
    problem = Unreachable(f"nobody listens at {shown(place.url)}", hint=hint or "is the server running?")
    return SeenServer(
        name=place.name, url=shown(place.url), named=place.named, problem=problem if place.named else None
    )


async def _looked_at(place: Place, http: HttpClient, seconds: float) -> SeenServer:
    started = time.monotonic()
    seen = SeenServer(name=place.name, url=shown(place.url), named=place.named)
    try:
        async with asyncio.timeout(seconds):
            found = await _recognised(place, http, seconds)
    except TimeoutError:
        problem: CallgateError = Unreachable(f"{shown(place.url)} didn't answer within {seconds:g} s")
        return msgspec.structs.replace(seen, is_there=True, problem=problem)
    except BadStatus as error:
        refused = error.status in _REFUSALS
        return msgspec.structs.replace(seen, is_there=True, wants_key=refused, problem=None if refused else error)
    except CallgateError as error:
        return msgspec.structs.replace(seen, is_there=not isinstance(error, Unreachable), problem=error)
    taken = round((time.monotonic() - started) * 1000)
    return msgspec.structs.replace(seen, is_there=True, milliseconds=taken, **found)


async def _recognised(place: Place, http: HttpClient, seconds: float) -> dict[str, Any]:
    base = normalise_base_url(place.url).base
    models: object
    if place.is_ollama:
        models = await http.get_json(f"{place.url}/api/tags", timeout=seconds)
        kind = ServerKind.OLLAMA
    else:
        answer = await asked(f"{base}/models", http, seconds)
        models, headers = answer.content, answer.headers
        if ours := next((value for name, value in headers.items() if name.lower() == OUR_HEADER.lower()), None):
            return {"kind": OURS, "version": ours[:_LONGEST_VERSION], "models": _count(models)}
        kind = recognise(models=models, headers=headers)
        if kind is ServerKind.OPENAI:
            props, version = await asyncio.gather(
                _maybe(f"{place.url}/props", http, seconds), _maybe(f"{place.url}/api/version", http, seconds)
            )
            kind = recognise(props=props, ollama_version=version)
    if _count(models) is None:
        raise BadAnswer(f"{shown(place.url)} sent no list of models", hint="is it a server for models?")
    return {"kind": str(kind), "version": await _version(place, kind, http, seconds), "models": _count(models)}


async def _version(place: Place, kind: ServerKind, http: HttpClient, seconds: float) -> str | None:
    path, key = _VERSION_AT.get(kind, ("", ""))
    answer = await _maybe(f"{place.url}{path}", http, seconds) if path else None
    version = answer.get(key) if isinstance(answer, dict) else None
    return version[:_LONGEST_VERSION] if isinstance(version, str) else None


async def _maybe(url: str, http: HttpClient, seconds: float) -> object:
    try:
        return await http.get_json(url, timeout=seconds)
    except BackendError:
        return None


def _count(models: object) -> int | None:
    entries = (models.get("models") or models.get("data") or []) if isinstance(models, dict) else None
    return len(entries) if isinstance(entries, list) else None
