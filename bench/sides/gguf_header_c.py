"""llama.cpp's own reader in C, `gguf_init_from_file`, out of the library that the xllamacpp package brings."""

import ctypes
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from bench.measure import emit, timed
from bench.sides.gguf_header_memory import peak_mb_of


class InitParams(ctypes.Structure):
    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))


spec = find_spec("xllamacpp")
assert spec is not None
assert spec.origin is not None
library = ctypes.CDLL(str(next(Path(spec.origin).parent.glob("xllamacpp*.so"))))
library.gguf_init_from_file.restype = ctypes.c_void_p
library.gguf_init_from_file.argtypes = (ctypes.c_char_p, InitParams)
library.gguf_find_key.restype = ctypes.c_int64
library.gguf_find_key.argtypes = (ctypes.c_void_p, ctypes.c_char_p)

path = sys.argv[1].encode()
contexts: list[int | None] = []

peer = f"llama.cpp gguf_init_from_file (xllamacpp {version('xllamacpp')})"
took: list[float] = []
memory = peak_mb_of(
    lambda: took.append(timed(lambda: contexts.append(library.gguf_init_from_file(path, InitParams(True, None)))))
)
emit("gguf header, 150k tokens", took[0] * 1e3, "ms", peer)
emit("gguf header, 150k tokens, memory", memory, "MB", peer)

assert contexts[0], "it refused the file"
assert library.gguf_find_key(contexts[0], b"tokenizer.chat_template") >= 0
