"""Reading the header of a GGUF file with 150,000 tokens and as many merges."""

from __future__ import annotations

import random
from pathlib import Path

from bench.harness import Bench, Row
from callgate.detect.gguf.layout import STRING
from tests.detect.gguf.writer import INT32, Gguf, Items, Tensor

TOKENS = 150_000
FASTER_THAN_C = 47 / 25
"""25 ms, where C takes 47; elsewhere the ratio is what can be held to."""
FASTER_THAN_PYTHON = 100.0

_LAYERS = 36
_PARTS = (
    *("attn_k", "attn_k_norm", "attn_norm", "attn_output", "attn_q", "attn_q_norm", "attn_v"),
    *("ffn_down", "ffn_gate", "ffn_norm", "ffn_up"),
)
_TENSOR_BYTES = 32  # eight numbers: the smallest that needs no padding
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def run(bench: Bench) -> list[Row]:
    file = bench.scratch / "150k.gguf"
    write_model(file)
    ours = bench.script("bench/sides/gguf_header_callgate.py", str(file))
    in_c = bench.script("bench/sides/gguf_header_c.py", str(file), env="bench-xllamacpp")
    in_python = bench.script("bench/sides/gguf_header_gguf.py", str(file), env="bench-gguf")
    return [
        *bench.compare(ours, in_c, repeats=15, at_least=FASTER_THAN_C),
        *bench.compare(ours, in_python, repeats=3, at_least=FASTER_THAN_PYTHON),
    ]


def write_model(path: Path) -> None:
    """The same file every time: words as long as in real vocabularies, a template, a few hundred small tensors."""
    chance = random.Random(150)
    tokens = [_word(chance) for _ in range(TOKENS)]
    merges = [f"{word[: len(word) // 2]} {word[len(word) // 2 :]}" for word in tokens]
    names = [f"blk.{layer}.{part}.weight" for layer in range(_LAYERS) for part in _PARTS]
    tensors = [Tensor(name, (8,), 0, _TENSOR_BYTES * number) for number, name in enumerate(names)]
    header = Gguf(
        {
            "general.architecture": "qwen3",
            "general.name": "Benchmark",
            "general.file_type": 15,
            "qwen3.context_length": 40960,
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.tokens": Items(STRING, tokens),
            "tokenizer.ggml.token_type": Items(INT32, [1] * TOKENS),
            "tokenizer.ggml.merges": Items(STRING, merges),
            "tokenizer.ggml.bos_token_id": TOKENS - 3,
            "tokenizer.ggml.eos_token_id": TOKENS - 1,
            "tokenizer.chat_template": "{% for message in messages %}{{ message.content }}{% endfor %}\n" * 64,
        },
        tensors,
    ).to_bytes()
    padding = bytes(-len(header) % 32)
    path.write_bytes(header + padding + bytes(_TENSOR_BYTES * len(tensors)))


def _word(chance: random.Random) -> str:
    """As many bytes as words of real vocabularies (cl100k, o200k) have: 7 at the median, 20 at the 95th percentile, and
    one in a thousand more than 70. Half of them start with the letter of two bytes that most mark a word's start with.
    """
    kind = chance.random()
    if kind < 0.9:
        size = 1 + round(chance.gammavariate(4.5, 1.35))
    elif kind < 0.999:
        size = 4 + round(chance.gammavariate(4, 5))
    else:
        size = chance.randint(60, 150)
    start = chance.choice(("", "Ġ")) if size > 2 else ""
    return start + "".join(chance.choices(_LETTERS, k=size - len(start.encode())))
