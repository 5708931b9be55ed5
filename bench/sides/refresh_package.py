"""The `ollama` package: the list of models, and each of them."""

import asyncio
import sys
from importlib.metadata import version
from time import perf_counter

from ollama import AsyncClient

from bench.measure import emit


async def all_models(url: str) -> int:
    client = AsyncClient(url)
    listed = await client.list()
    shown = await asyncio.gather(*(client.show(entry.model or "") for entry in listed.models))
    return sum("tools" in (found.capabilities or ()) for found in shown)


for name in ("refresh of 100 models, all new", "refresh of 100 models, none changed"):
    started = perf_counter()
    assert asyncio.run(all_models(sys.argv[1])) == 100
    emit(name, (perf_counter() - started) * 1e3, "ms", f"ollama {version('ollama')}")
