"""The `ollama` package's client."""

import asyncio
import sys
from importlib.metadata import version
from time import process_time

from ollama import AsyncClient

from bench.measure import emit
from bench.sides.gguf_header_memory import peak_mb_of
from bench.sides.ollama_floor import floor

NAME = f"ollama {version('ollama')}"

url, burst, paced, long = sys.argv[1], *map(int, sys.argv[2:])


async def stream(how: str, count: int) -> float:
    client = AsyncClient(url)
    length = seen = 0
    before = process_time()
    async for part in await client.chat(
        model=f"{how}:{count}", messages=[{"role": "user", "content": "Hi"}], stream=True
    ):
        if not part.done and part.message.content:
            seen += 1
            length += len(part.message.content)
    took = process_time() - before
    assert seen == count, f"{seen} chunks of {count}"
    assert length
    return took / count


def run(how: str, count: int) -> float:
    return asyncio.run(stream(how, count))


run("burst", 100)
emit("ollama stream, chunk of a burst", run("burst", burst) * 1e6, "us", NAME)
woken = asyncio.run(floor(url, f"paced:{paced}", paced))
took = run("paced", paced)
emit("ollama stream, chunk by chunk, over a bare socket", (took - woken) * 1e6, "us", NAME)
emit("ollama stream, chunk by chunk, all in all", took * 1e6, "us", NAME)
emit("ollama stream, memory over 100k chunks", max(peak_mb_of(lambda: run("burst", long)), 0.1), "MB", NAME)
