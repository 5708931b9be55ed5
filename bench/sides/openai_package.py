"""The `openai` package's client."""

import asyncio
import sys
from importlib.metadata import version
from time import process_time

from openai import AsyncOpenAI

from bench.measure import emit
from bench.sides.gguf_header_memory import peak_mb_of
from bench.sides.ollama_floor import floor

NAME = f"openai {version('openai')}"

url, burst, paced, long = sys.argv[1], *map(int, sys.argv[2:])


async def stream(how: str, count: int) -> float:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        seen = length = 0
        before = process_time()
        async for part in await client.chat.completions.create(
            model=f"{how}:{count}",
            messages=[{"role": "user", "content": "Hi"}],
            stream=True,
            stream_options={"include_usage": True},
        ):
            if part.choices and (text := part.choices[0].delta.content):
                seen += 1
                length += len(text)
        took = process_time() - before
    assert seen == count, f"{seen} chunks of {count}"
    assert length
    return took / count


def run(how: str, count: int) -> float:
    return asyncio.run(stream(how, count))


run("burst", 100)
emit("openai stream, chunk of a burst", run("burst", burst) * 1e6, "us", NAME)
woken = asyncio.run(floor(url, f"paced:{paced}", paced))
emit("openai stream, chunk by chunk, over a bare socket", (run("paced", paced) - woken) * 1e6, "us", NAME)
emit("openai stream, memory over 100k chunks", max(peak_mb_of(lambda: run("burst", long)), 0.1), "MB", NAME)
