"""The tensor table: how many parameters there are, and of which types."""

from __future__ import annotations

from math import prod
from struct import Struct

from callgate.detect.gguf.layout import MAX_DIMS, MAX_ELEMENTS, MAX_TENSOR_NAME, TENSOR_TYPES
from callgate.detect.gguf.stream import Steps, Stream


def read_tensors(stream: Stream, count: int, endian: str, length: Struct) -> Steps[dict[str, int]]:
    """Elements by type; those of types that we don't know are together under `""`."""
    dimensions = Struct(endian + "I")
    # The rest of an entry with so many dimensions: shape, type, offset.
    tails = [Struct(f"{endian}{n}{length.format[-1]}IQ") for n in range(MAX_DIMS + 1)]
    elements: dict[str, int] = {}
    total = 0
    for number in range(1, count + 1):
        stream.doing = f"tensor {number} of {count}"
        # Most entries lie whole in the block: waiting for their bytes is worth a generator only where they don't.
        if len(stream.block) - stream.position < length.size:
            yield from stream.need(length.size)
        name_size: int = length.unpack_from(stream.block, stream.position)[0]
        if name_size > MAX_TENSOR_NAME:
            raise stream.corrupt(f"{stream.doing} claims a name of {name_size:,} bytes")
        head = length.size + name_size + dimensions.size
        if len(stream.block) - stream.position < head:
            yield from stream.need(head)
        dims: int = dimensions.unpack_from(stream.block, stream.position + length.size + name_size)[0]
        if dims > MAX_DIMS:
            raise stream.corrupt(f"{stream.doing} claims {dims:,} dimensions")
        tail = tails[dims]
        if len(stream.block) - stream.position < head + tail.size:
            yield from stream.need(head + tail.size)
        *shape, kind, _ = tail.unpack_from(stream.block, stream.position + head)
        size = prod(shape)
        total += size
        if total > MAX_ELEMENTS:
            raise stream.corrupt(
                f"{stream.doing} claims the shape {tuple(shape)}, and that is more than can be counted"
            )
        name = TENSOR_TYPES.get(kind, "")
        elements[name] = elements.get(name, 0) + size
        stream.position += head + tail.size
    return elements
