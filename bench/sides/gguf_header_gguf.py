"""The `gguf` package: what `GGUFReader` takes until the chat template can be had."""

import sys
from importlib.metadata import version

from gguf import GGUFReader

from bench.measure import emit, peak_memory, timed

path = sys.argv[1]


def template() -> object:
    field = GGUFReader(path).fields["tokenizer.chat_template"]
    return bytes(field.parts[field.data[0]])


peer = f"gguf {version('gguf')}"
before = peak_memory()
emit("gguf header, 150k tokens", timed(template) * 1e3, "ms", peer)
emit("gguf header, 150k tokens, memory", (peak_memory() - before) / 1e6, "MB", peer)
