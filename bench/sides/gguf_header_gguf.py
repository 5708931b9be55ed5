"""The `gguf` package: what `GGUFReader` takes until the chat template can be had."""

import sys
from importlib.metadata import version

from gguf import GGUFReader

from bench.measure import emit, timed
from bench.sides.gguf_header_memory import peak_mb_of

path = sys.argv[1]


def template() -> object:
    field = GGUFReader(path).fields["tokenizer.chat_template"]
    return bytes(field.parts[field.data[0]])


peer = f"gguf {version('gguf')}"
took: list[float] = []
memory = peak_mb_of(lambda: took.append(timed(template)))
emit("gguf header, 150k tokens", took[0] * 1e3, "ms", peer)
emit("gguf header, 150k tokens, memory", memory, "MB", peer)
