"""Our engine, with every format tried and six tools offered."""

import sys

from bench.measure import emit, timed
from bench.sides.recovery_texts import CALL_CHUNKS, CALL_NAME, DATA_CHUNKS, DATA_NAME, PLAIN, PLAIN_NAME
from callgate.gate import Recovery
from callgate.tools import Names
from callgate.vocabulary import Tool

PROMISED_US = 3.0
names = Names([Tool(name) for name in ("get_weather", "search", "read", "open", "add", "write_file")])


def read(chunks: list[str]) -> int:
    recovery = Recovery(names)
    pieces = 0
    for chunk in chunks:
        pieces += len(recovery.feed(chunk))
    return pieces + len(recovery.close())


assert read(CALL_CHUNKS) == 1
chunk_us = timed(lambda: read(PLAIN), rounds=7, warm_up=1) / len(PLAIN) * 1e6
emit(PLAIN_NAME, chunk_us, "µs")
emit(DATA_NAME, timed(lambda: read(DATA_CHUNKS), rounds=7, warm_up=1) / len(DATA_CHUNKS) * 1e6, "µs")
emit(CALL_NAME, timed(lambda: read(CALL_CHUNKS), rounds=7, warm_up=1) * 1e3, "ms")
if chunk_us > PROMISED_US:
    print(f"more than the {PROMISED_US:g} µs a chunk that are promised", file=sys.stderr)
