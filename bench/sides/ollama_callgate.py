"""callgate's client of Ollama."""

import asyncio
import sys
from contextlib import aclosing
from time import process_time

from bench.measure import emit
from bench.sides.gguf_header_memory import peak_mb_of
from bench.sides.ollama_floor import floor
from callgate.backends import OllamaBackend
from callgate.vocabulary import AssistantDelta, ChatRequest, Message
from callgate.wire import HttpClient

LEVEL_MB = 2.0  # what an allocator may take and keep

url, burst, paced, long = sys.argv[1], *map(int, sys.argv[2:])


async def stream(how: str, count: int) -> float:
    """Seconds of our processor's time for one chunk."""
    request = ChatRequest(model=f"{how}:{count}", messages=(Message(role="user", content="Hi"),))
    async with HttpClient() as http:
        backend = OllamaBackend(url, http, timeout=5)
        length = seen = 0
        before = process_time()
        async with aclosing(backend.stream(request)) as events:
            async for event in events:
                if isinstance(event, AssistantDelta):
                    seen += 1
                    length += len(event.text)
        took = process_time() - before
        assert seen == count, f"{seen} chunks of {count}"
        assert length
    return took / count


def run(how: str, count: int) -> float:
    return asyncio.run(stream(how, count))


run("burst", 100)
emit("ollama stream, chunk of a burst", run("burst", burst) * 1e6, "us")
woken = asyncio.run(floor(url, f"paced:{paced}", paced))
took = run("paced", paced)
emit("ollama stream, chunk by chunk, over a bare socket", (took - woken) * 1e6, "us")
emit("ollama stream, chunk by chunk, all in all", took * 1e6, "us")

short_mb = peak_mb_of(lambda: run("burst", long // 10))
long_mb = peak_mb_of(lambda: run("burst", long))
assert long_mb < short_mb + LEVEL_MB, f"{long} chunks took {long_mb:.1f} MB, a tenth of them {short_mb:.1f} MB"
emit("ollama stream, memory over 100k chunks", max(long_mb, 0.1), "MB")
