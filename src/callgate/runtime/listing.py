"""Asks servers which models they have, all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from callgate.detect import recognise
from callgate.runtime.found import FoundModel
from callgate.runtime.places import Place
from callgate.vocabulary import BackendError, BadAnswer, CallgateError, ModelRef, ServerKind
from callgate.wire import HttpClient, normalise_base_url, shown

MOST_MODELS = 1_000
LONGEST_NAME = 512
LARGEST_LIST = 16 << 20
LONGEST_TIME = 64
END_OF_TIME = 253_402_300_800
"""The year 10000, which no date has room for."""
OUR_HEADER = "X-Callgate"
"""What our own server sends with each answer: whoever lists models there may list their own."""
_NAMES = {
    ServerKind.LLAMA_SERVER: "llama-server",
    ServerKind.LM_STUDIO: "LM Studio",
    ServerKind.VLLM: "vLLM",
    ServerKind.SGLANG: "SGLang",
    ServerKind.CALLGATE: "callgate",
}


class Listed(NamedTuple):
    models: tuple[FoundModel, ...] = ()
    problem: CallgateError | None = None


class ServerAnswer(NamedTuple):
    headers: Mapping[str, str]
    content: object


async def list_models(places: Sequence[Place], http: HttpClient, *, timeout: float) -> list[Listed]:  # noqa: ASYNC109
    """What each place has, in order, within `timeout` seconds or so. A server of ours has none unless it is named."""
    return list(await asyncio.gather(*(_list(place, http, timeout) for place in places)))


async def _list(place: Place, http: HttpClient, timeout: float) -> Listed:  # noqa: ASYNC109
    try:
        find = _of_ollama if place.is_ollama else _of_any
        return Listed(tuple(await find(place, http, timeout)))
    except CallgateError as error:
        return Listed(problem=error)


async def _of_ollama(place: Place, http: HttpClient, timeout: float) -> Iterator[FoundModel]:  # noqa: ASYNC109
    answer = await asked(f"{place.url}/api/tags", http, timeout)
    return iter(()) if _is_skipped(place, answer.headers) else _ollama_models(place, answer.content)


async def _of_any(place: Place, http: HttpClient, timeout: float) -> Iterator[FoundModel]:  # noqa: ASYNC109
    base = normalise_base_url(place.url).base
    answer = await asked(f"{base}/models", http, timeout)
    if _is_skipped(place, answer.headers):
        return iter(())
    kind = recognise(models=answer.content, headers=answer.headers)
    if kind is ServerKind.OPENAI:
        kind = await _kind_by_version(place, http, timeout)
    if kind is ServerKind.OLLAMA:
        return await _of_ollama(place, http, timeout)
    return _openai_models(place, base, kind, answer.content)


async def _kind_by_version(place: Place, http: HttpClient, timeout: float) -> ServerKind:  # noqa: ASYNC109
    try:
        version = await asked(f"{place.url}/api/version", http, timeout)
    except BackendError:
        return ServerKind.OPENAI
    return recognise(ollama_version=version.content)


def _ollama_models(place: Place, content: object) -> Iterator[FoundModel]:
    for entry in _entries(content, "models", place):
        name, digest, size = entry.get("name"), entry.get("digest"), entry.get("size")
        if not isinstance(name, str):
            continue
        ref = ModelRef("ollama", name, None if place.is_local_ollama else place.url)
        if _is_sound(ref):
            yield FoundModel(
                ref=ref,
                name=name,
                backend="ollama",
                place=place.name,
                endpoint=shown(place.url),
                size=size if type(size) is int and size >= 0 else None,
                digest=digest if isinstance(digest, str) else None,
                modified=moment_in(entry.get("modified_at")),
            )


def _openai_models(place: Place, base: str, kind: ServerKind, content: object) -> Iterator[FoundModel]:
    # A port is no proof of who listens there.
    called = place.name if place.named else _NAMES.get(kind, shown(place.url))
    for entry in _entries(content, "data", place):
        name = entry.get("id")
        if isinstance(name, str) and _is_sound(ref := ModelRef("openai", name, base)):
            made = moment_in(entry.get("created"))
            yield FoundModel(ref=ref, name=name, backend="openai", place=called, endpoint=shown(base), modified=made)


def moment_in(told: object) -> float | None:
    """Seconds since the epoch, of what a server says: seconds, or a time of ISO 8601. None, if it can't be right."""
    if isinstance(told, str) and len(told) <= LONGEST_TIME:
        try:
            told = datetime.fromisoformat(told).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    return float(told) if is_number and 0 < told < END_OF_TIME else None  # type: ignore[operator,arg-type]


def _entries(content: object, key: str, place: Place) -> list[Mapping[str, Any]]:
    entries = content.get(key) if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise BadAnswer(f"{shown(place.url)} sent no list of models", hint="is it a server for models?")
    return [entry for entry in entries[:MOST_MODELS] if isinstance(entry, dict)]


def _is_sound(ref: ModelRef) -> bool:
    """A name that can be shown, and that leads back to its model when somebody types it."""
    text = str(ref)
    if not (ref.name and len(ref.name) <= LONGEST_NAME and text.isprintable()):
        return False
    try:
        return ModelRef.parse(text) == ref
    except CallgateError:
        return False


def _is_skipped(place: Place, headers: Mapping[str, str]) -> bool:
    """OLLAMA_HOST may well name our own server, for the sake of other programs; whoever names one as such wants it."""
    return _is_ours(headers) and (not place.named or place.is_local_ollama)


def _is_ours(headers: Mapping[str, str]) -> bool:
    lower = {name.lower(): value for name, value in headers.items()}
    return OUR_HEADER.lower() in lower or lower.get("server", "").lower().startswith("callgate")


async def asked(url: str, http: HttpClient, timeout: float) -> ServerAnswer:  # noqa: ASYNC109
    """What a server says to a question, with its headers. Raises: BackendError."""
    async with http.open("GET", url, timeout=timeout) as response:
        pieces, size = [], 0
        async for piece in response.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_LIST:
                raise BadAnswer(f"{shown(url)} sent more than {LARGEST_LIST >> 20} MiB")
        headers = dict(response.headers)
    try:
        return ServerAnswer(headers, msgspec.json.decode(b"".join(pieces)))
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise BadAnswer(f"{shown(url)} sent something that isn't JSON", hint="is it a server for models?") from None
