"""Gives a GGUF file to an Ollama, through its API: the file first, then a model made of it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable

import msgspec

from callgate.detect import read_header
from callgate.hub.background import in_background
from callgate.hub.digests import digest_of
from callgate.vocabulary import BadAnswer, BadStatus, UsageError
from callgate.wire import HttpClient, Lines, Patience, post_stream, shown

_BLOCK = 1 << 20
_PATIENCE = Patience(first_byte=600.0, between=600.0)
"""It reads the whole file, and writes it again in a form of its own."""
_NAME = re.compile(r"[a-zA-Z0-9][\w.-]*(?:/[\w.-]+)*(?::[\w.-]+)?", re.ASCII)


class _Step(msgspec.Struct):
    status: str = ""
    error: str | None = None


_steps = msgspec.json.Decoder(_Step)


def default_name(path: str) -> str:
    """`tiny-q8_0` for /somewhere/Tiny-Q8_0.gguf."""
    stem = os.path.basename(path).removesuffix(".gguf").lower()
    return re.sub(r"[^a-z0-9._-]+", "-", stem).strip("-._") or "model"


async def import_into_ollama(
    path: str, name: str, endpoint: str, http: HttpClient, told: Callable[[str, int, int], None]
) -> str:
    """Makes the file at `path` the model `name`; `told` hears what is done, and how far it is. Gives the digest.

    Raises: UsageError, HeaderError, if it is no model of one file; BackendError, if the Ollama fails.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} can't be the name of a model", hint="such as: tiny, or tiny:q8")
    header = await asyncio.to_thread(read_header, path)
    if header.shard is not None and header.shard.count > 1:
        raise UsageError(
            f"{path!r} is one of {header.shard.count} parts, and Ollama takes models of one file only",
            hint="llama.cpp's `llama-gguf-split --merge` makes one file of them",
        )
    size = os.stat(path).st_size
    digest = await in_background(lambda: digest_of(path, lambda done: told("hashing", done, size)))
    blob = f"{endpoint}/api/blobs/sha256:{digest}"
    if not await _has(blob, http):
        try:
            async with http.open("POST", blob, body=_content(path, told, size), patience=_PATIENCE):
                pass
        except BadStatus as error:
            raise BadStatus(
                f"Ollama at {shown(endpoint)} didn't take the file (status {error.status})", status=error.status
            ) from None
    order = {"model": name, "files": {os.path.basename(path): f"sha256:{digest}"}, "stream": True}
    await _create(endpoint, order, http, lambda step: told(step, size, size))
    return digest


async def _has(blob: str, http: HttpClient) -> bool:
    async with http.open("HEAD", blob, expect=(404,)) as response:
        return response.status == 200


async def _content(path: str, told: Callable[[str, int, int], None], size: int) -> AsyncIterator[bytes]:
    done = 0
    with await asyncio.to_thread(open, path, "rb") as file:
        while block := await asyncio.to_thread(file.read, _BLOCK):
            yield block
            done += len(block)
            told("sending", done, size)


async def _create(endpoint: str, order: object, http: HttpClient, told: Callable[[str], None]) -> None:
    place = f"Ollama at {shown(endpoint)}"
    body = msgspec.json.encode(order)
    lines = Lines(place)
    has_succeeded = False
    async with post_stream(http, f"{endpoint}/api/create", body, patience=_PATIENCE) as incoming:
        while True:
            piece = await incoming.read()
            for line in lines.feed(piece) if piece else filter(None, [lines.close()]):
                try:
                    step = _steps.decode(line)
                except msgspec.DecodeError:
                    raise BadAnswer(f"{place} sent something that isn't a step of its work") from None
                if step.error is not None:
                    raise BadAnswer(f"{place} can't make a model of it: {step.error[:300]}")
                has_succeeded = has_succeeded or step.status == "success"
                told(step.status[:80])
            if not piece:
                break
    if not has_succeeded:
        raise BadAnswer(f"{place} didn't say that it is done")
