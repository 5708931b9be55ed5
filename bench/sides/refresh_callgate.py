"""The start-up refresh, twice: with nothing known, and with nothing changed."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from time import perf_counter

from bench.measure import emit
from callgate.runtime import Refreshed, refresh_models
from callgate.settings import load_settings


async def refreshed(url: str, home: str) -> Refreshed:
    overrides: dict[str, object] = {"ollama.host": url, "storage.home": home, "ollama.models": home}
    return await refresh_models(load_settings(overrides))


def measure(name: str, url: str, home: str, looked_at: int) -> None:
    started = perf_counter()
    done = asyncio.run(refreshed(url, home))
    taken = perf_counter() - started
    looks = sum(ref.scheme == "ollama" for ref in done.looked_at)
    assert (looks, len(done.models) >= 100, done.failed) == (looked_at, True, ()), done
    emit(name, taken * 1e3, "ms")


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(refreshed("127.0.0.1:1", folder))  # what has to be loaded is loaded
    measure("refresh of 100 models, all new", sys.argv[1], folder, 100)
    measure("refresh of 100 models, none changed", sys.argv[1], folder, 0)
