"""Bare aiohttp: what an Ollama says of one of its models, twice over one kept session."""

import asyncio
import sys
from time import perf_counter

import aiohttp

from bench.measure import emit

URL, MODEL = sys.argv[1], "model-7:latest"


async def asked(session: aiohttp.ClientSession, path: str) -> object:
    asking = session.post(URL + path, json={"model": MODEL}) if path == "/api/show" else session.get(URL + path)
    async with asking as response:
        return await response.json()


async def main() -> None:
    async with aiohttp.ClientSession() as session:
        for name in ("swap of models, cold", "swap of models, known"):
            started = perf_counter()
            found = await asyncio.gather(
                *(asked(session, path) for path in ("/api/show", "/api/tags", "/api/ps", "/api/version"))
            )
            taken = perf_counter() - started
            assert all(found)
            emit(name, taken * 1e3, "ms", f"aiohttp {aiohttp.__version__}")


asyncio.run(main())
