"""callgate's reader: the first file that a fresh process reads."""

import sys

from bench.measure import emit, timed
from bench.sides.gguf_header_memory import peak_mb_of
from callgate.detect.gguf import Header, read_header

path = sys.argv[1]
headers: list[Header] = []
took: list[float] = []
memory = peak_mb_of(lambda: took.append(timed(lambda: headers.append(read_header(path)))))
emit("gguf header, 150k tokens", took[0] * 1e3, "ms")
emit("gguf header, 150k tokens, memory", memory, "MB")

assert len(headers[0].tokens) == 2
assert len(headers[0].templates["default"]) > 1000
