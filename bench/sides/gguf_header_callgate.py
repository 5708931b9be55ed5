"""callgate's reader: the first file that a fresh process reads."""

import sys

from bench.measure import emit, peak_memory, timed
from callgate.detect.gguf import read_header

path = sys.argv[1]
before = peak_memory()
emit("gguf header, 150k tokens", timed(lambda: read_header(path)) * 1e3, "ms")
emit("gguf header, 150k tokens, memory", (peak_memory() - before) / 1e6, "MB")

header = read_header(path)
assert len(header.tokens) == 2
assert len(header.templates["default"]) > 1000
