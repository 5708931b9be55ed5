"""What follows from the metadata and the tensor table: templates by name, parameters, quantisation, shards."""

from __future__ import annotations

from collections.abc import Mapping

from callgate.detect.gguf.header import Shard, Value
from callgate.detect.gguf.layout import FILE_TYPE_GUESSED, FILE_TYPES, MAX_ELEMENTS, TEMPLATE_KEY
from callgate.detect.gguf.stream import Stream


def templates_of(metadata: Mapping[str, Value], stream: Stream) -> dict[str, str]:
    templates = {}
    for key, value in metadata.items():
        if key != TEMPLATE_KEY and not key.startswith(TEMPLATE_KEY + "."):
            continue
        if not isinstance(value, str):
            raise stream.corrupt(f"{key[:80]!r} should be a text, and is {value!r:.80}")
        templates[key.removeprefix(TEMPLATE_KEY)] = value
    # The key without a name is the default, whatever the others call themselves.
    nameless = templates.pop("", None)
    named = {name[1:]: text for name, text in templates.items() if name != "."}
    return named if nameless is None else {**named, "default": nameless}


def shard_of(metadata: Mapping[str, Value]) -> Shard | None:
    count = integer(metadata, "split.count")
    if count is None or count < 2:
        return None
    return Shard(integer(metadata, "split.no") or 0, count)


def parameter_count_of(metadata: Mapping[str, Value], elements: Mapping[str, int]) -> int | None:
    """As the file says, or counted; `None` for a shard that doesn't say: it has some of the tensors only."""
    said = integer(metadata, "general.parameter_count")
    if said is not None and 0 < said <= MAX_ELEMENTS:
        return said
    return None if shard_of(metadata) else sum(elements.values()) or None


def quantization_of(metadata: Mapping[str, Value], elements: Mapping[str, int]) -> str | None:
    """As the file type says; without one, the type of most elements."""
    file_type = integer(metadata, "general.file_type")
    if file_type is not None and (name := FILE_TYPES.get(file_type & ~FILE_TYPE_GUESSED)):
        return name
    known = [(count, name) for name, count in elements.items() if name and count]
    return max(known)[1] if known else None


def integer(metadata: Mapping[str, object], key: str) -> int | None:
    """The value of `key`, if it is a number without a fraction. (To Python a bool is one; here it isn't.)"""
    value = metadata.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
