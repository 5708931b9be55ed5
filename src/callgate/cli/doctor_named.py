"""What settings name and nobody else looks for: is it there?"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from urllib.parse import urlsplit

from callgate.cli.doctor_checks import Checked
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, ModelRef

SECONDS = 2.0
_REDIS_PORT = 6379


async def redis(settings: Settings) -> Checked | None:
    """Whether anybody listens there; nothing is said to it."""
    if settings.serve.redis is None:
        return None
    where, problem = "", "it isn't the URL of a Redis"
    with suppress(ValueError):
        parts = urlsplit(settings.serve.redis.reveal())
        if parts.scheme == "unix" and parts.path:
            where, problem = parts.path, await _why_not_connected(path=parts.path)
        elif parts.scheme in ("redis", "rediss"):
            host, port = parts.hostname or "localhost", parts.port or _REDIS_PORT
            where, problem = f"{host}:{port}", await _why_not_connected(host=host, port=port)
    return Checked(
        section="servers",
        name="Redis",
        state="wrong" if problem else "ok",
        detail=f"{where}: {problem}".removeprefix(": ") if problem else f"somebody listens at {where}",
        next=f"start it, or let serve.redis name another ({settings.origin('serve.redis')})" if problem else None,
    )


async def _why_not_connected(*, host: str = "", port: int = 0, path: str = "") -> str:
    """Empty, if somebody listens."""
    try:
        async with asyncio.timeout(SECONDS):
            opening = asyncio.open_unix_connection(path) if path else asyncio.open_connection(host, port)
            _, writer = await opening
    except TimeoutError:
        return f"nobody answers within {SECONDS:g} s"
    except (OSError, AttributeError, UnicodeError):  # Windows has no such sockets; a host's name may be none
        return "nobody listens there"
    writer.close()
    return ""


async def why_no_default_model(settings: Settings) -> str | None:
    """What is wrong with `models.default`. What only a server elsewhere or the hub could tell is not asked."""
    named = settings.models.default
    if named is None:
        return None
    try:
        ref = ModelRef.parse(named)
        if ref.is_in_the_box or ref.endpoint is not None:
            return None
        if ref.scheme == "file":
            is_there = await asyncio.to_thread(os.path.exists, ref.name)
            return None if is_there else f"there is no file {ref.name!r}"
        if ref.scheme != "ollama" or not settings.discovery.timeout:
            return None
        return await _why_not_at_ollama(ref, settings)
    except CallgateError as error:
        return error.message


async def _why_not_at_ollama(ref: ModelRef, settings: Settings) -> str | None:
    from callgate.runtime import discover_async

    found = {model.ref for model in (await discover_async(settings)).models}
    if ref in found or ModelRef("ollama", f"{ref.name}:latest") in found:
        return None
    is_there = any(each.scheme == "ollama" and each.endpoint is None for each in found)
    return f"your Ollama has no model {ref.name!r}" if is_there else f"no Ollama answers that could have {ref.name!r}"
