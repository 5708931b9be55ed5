"""The model files that the engine runs, and what loading one takes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping

import msgspec

from callgate.detect import BOXED_FILE, boxed_facts, boxed_template, facts_of, read_header
from callgate.settings import LlamaCpp
from callgate.vocabulary import IN_THE_BOX, Facts

DEFAULT_CONTEXT = 4096
LARGEST_DEFAULT_CONTEXT = 8192
OVERHEAD = 1.2
"""What a loaded model takes, over its file: buffers for computing, and the process itself."""

_SHARD = re.compile(r"-00001-of-(\d{5})\.gguf\Z")
_BITS_OF_KV = {"f32": 32, "f16": 16, "bf16": 16, "q8_0": 8.5, "q5_1": 6, "q5_0": 5.5, "q4_1": 5, "q4_0": 4.5}


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """A model, found."""

    path: str
    name: str
    template: str | None = None
    """A chat template that takes the place of its own."""
    is_in_the_box: bool = False
    facts: Facts


def model_file(model: str) -> ModelFile:
    """The model at a path, or the one in the box. Raises: NotFound, UsageError, HeaderError."""
    if model not in IN_THE_BOX:
        name = os.path.basename(model)
        facts = facts_of(read_header(model), name, time.time())
        return ModelFile(path=os.path.abspath(model), name=name, facts=facts)
    return ModelFile(
        path=BOXED_FILE, name=model, template=boxed_template(model), is_in_the_box=True, facts=boxed_facts(model)
    )


def version_of(path: str) -> tuple[int, int]:
    """What changes when the file does."""
    try:
        stat = os.stat(path)
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_mtime_ns


def context_for(facts: Facts, wanted: int) -> int:
    """What the user wants, or what the model has, within reason: a context costs memory, used or not."""
    own = _number(facts.header, "context_length")
    return wanted or min(own or DEFAULT_CONTEXT, LARGEST_DEFAULT_CONTEXT)


def bytes_to_load(file: ModelFile, context: int, kv_type: str | None) -> int:
    """An estimate of the memory that the model takes with such a context."""
    weights = sum(version_of(path)[0] for path in _shards(file.path))
    return _with_cache(weights, file.facts, context, kv_type)


def memory_to_run(facts: Facts, weights: int, options: LlamaCpp) -> int:
    """The same of a model that isn't here yet, with `weights` bytes in its files and the context that it would get."""
    return _with_cache(weights, facts, context_for(facts, options.context), options.kv_type)


def _with_cache(weights: int, facts: Facts, context: int, kv_type: str | None) -> int:
    return int(weights * OVERHEAD) + _bytes_of_cache(facts.header, context, kv_type)


def _bytes_of_cache(header: Mapping[str, object] | None, context: int, kv_type: str | None) -> int:
    layers = _number(header, "block_count")
    heads = _number(header, "attention.head_count") or 1
    kv_heads = _number(header, "attention.head_count_kv") or heads
    of_one_head = (_number(header, "embedding_length") or 0) // heads
    keys = _number(header, "attention.key_length") or of_one_head
    values = _number(header, "attention.value_length") or of_one_head
    bits = _BITS_OF_KV.get((kv_type or "f16").lower(), 16)
    return int((layers or 0) * context * kv_heads * (keys + values) * bits / 8)


def _number(header: Mapping[str, object] | None, key: str) -> int | None:
    """A number of the model's architecture; of several, one for each layer, the largest."""
    header = header or {}
    value = header.get(f"{header.get('general.architecture')}.{key}")
    several = value if isinstance(value, tuple) else (value,)
    numbers = [item for item in several if isinstance(item, int) and not isinstance(item, bool) and 0 < item < 1 << 32]
    return max(numbers, default=None)


def _shards(path: str) -> list[str]:
    """All the files of a model that comes in several, of which `path` is the first."""
    if not (match := _SHARD.search(path)):
        return [path]
    count = min(int(match[1]), 1000)
    return [f"{path[: match.start()]}-{number:05}-of-{match[1]}.gguf" for number in range(1, count + 1)]
