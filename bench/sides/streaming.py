"""How a client's cost for each streamed chunk is measured, ours and a peer's alike."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from time import process_time

from bench.measure import emit
from bench.sides.gguf_header_memory import peak_mb_of
from bench.sides.streaming_floor import floor

LEVEL_MB = 2.0  # what an allocator may take and keep

Texts = Callable[[str, str], AsyncIterator[str]]
"""The texts of a stream, from the server at an address, for the model of a name."""


def measure(protocol: str, texts: Texts, version: str = "", *, must_stay_level: bool = False) -> None:
    """Takes the server's address and the sizes of the streams from the command line."""
    url, burst, paced, long = sys.argv[1], *map(int, sys.argv[2:])

    def run(how: str, count: int) -> float:
        return asyncio.run(_seconds_a_chunk(texts(url, f"{how}:{count}"), count))

    run("burst", 100)
    emit(f"{protocol} stream, chunk of a burst", run("burst", burst) * 1e6, "us", version)
    woken = asyncio.run(floor(url, f"paced:{paced}", paced))
    took = run("paced", paced)
    emit(f"{protocol} stream, chunk by chunk, over a bare socket", (took - woken) * 1e6, "us", version)
    emit(f"{protocol} stream, chunk by chunk, all in all", took * 1e6, "us", version)
    short_mb = peak_mb_of(lambda: run("burst", long // 10))
    long_mb = peak_mb_of(lambda: run("burst", long))
    if must_stay_level:
        assert long_mb < short_mb + LEVEL_MB, f"{long} chunks: {long_mb:.1f} MB, a tenth of them: {short_mb:.1f} MB"
    emit(f"{protocol} stream, memory over 100k chunks", max(long_mb, 0.1), "MB", version)


async def _seconds_a_chunk(texts: AsyncIterator[str], count: int) -> float:
    """Of processor time."""
    seen = length = 0
    before = process_time()
    async for text in texts:
        seen += 1
        length += len(text)
    took = process_time() - before
    assert seen == count, f"{seen} chunks of {count}"
    assert length
    return took / count
