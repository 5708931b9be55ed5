"""What no engine can be faster than: a call of a function that hands each chunk on."""

import platform
from functools import partial

from bench.measure import emit, timed
from bench.sides.recovery_texts import DATA_CHUNKS, DATA_NAME, PLAIN, PLAIN_NAME


class HandOn:
    def feed(self, text: str) -> tuple[str]:
        return (text,)


def read(chunks: list[str]) -> int:
    pieces, reader = 0, HandOn()
    for chunk in chunks:
        pieces += len(reader.feed(chunk))
    return pieces


for name, chunks in ((PLAIN_NAME, PLAIN), (DATA_NAME, DATA_CHUNKS)):
    chunk_us = timed(partial(read, chunks), rounds=7, warm_up=1) / len(chunks) * 1e6
    emit(name, chunk_us, "µs", f"handed on, Python {platform.python_version()}")
