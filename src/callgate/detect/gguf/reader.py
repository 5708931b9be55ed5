"""The header's grammar: given bytes as they come, it goes on where it stopped, and says when it has all.

It does no I/O and never goes back. Token arrays and other bulk are passed over as they come in, so that a block and the
vocabulary are all it holds. No length in the file is believed before it is checked, and nothing is searched for: every
value is where the lengths before it put it.
"""

from __future__ import annotations

from struct import Struct
from typing import Literal

from callgate.detect.gguf import layout
from callgate.detect.gguf.conclude import parameter_count_of, quantization_of, shard_of, templates_of
from callgate.detect.gguf.header import Header
from callgate.detect.gguf.metadata import Metadata
from callgate.detect.gguf.stream import Steps, Stream
from callgate.detect.gguf.tensors import read_tensors
from callgate.vocabulary import HeaderError


class HeaderReader:
    """Feed it blocks, from the file's first byte on, until it returns a `Header`."""

    def __init__(self, name: str = "the file", size: int | None = None) -> None:
        """`name` is what messages call the file, `size` its bytes where they are known."""
        self._stream = Stream(name, size)
        self._header: Header | None = None
        self._steps = _read(self._stream)
        next(self._steps)

    def feed(self, block: bytes) -> Header | None:
        """The header, once it is complete. Raises: HeaderError."""
        if self._header is None and block:
            try:
                self._steps.send(block)
            except StopIteration as done:
                self._header = done.value
        return self._header

    def end(self) -> Header:
        """There are no more bytes. Raises: HeaderError, if that is too early."""
        if self._header is None:
            raise self._stream.ended()
        return self._header


def _read(stream: Stream) -> Steps[Header]:
    version, order = yield from _read_version(stream)
    endian = "<" if order == "little" else ">"
    length = Struct(endian + ("I" if version == 1 else "Q"))
    stream.doing = "its counts"
    tensor_count: int = yield from stream.take(length)
    key_count: int = yield from stream.take(length)
    for what, count, most in (("tensors", tensor_count, layout.MAX_TENSORS), ("keys", key_count, layout.MAX_KEYS)):
        if count > most:
            raise stream.corrupt(f"it claims {count:,} {what}, and no model has more than {most:,}")
    metadata = Metadata(stream, endian, length)
    for number in range(1, key_count + 1):
        yield from metadata.read_pair(number)
    elements = yield from read_tensors(stream, tensor_count, endian, length)
    return Header(
        version=version,
        byte_order=order,
        metadata=metadata.pairs,
        templates=templates_of(metadata.pairs, stream),
        tokens=metadata.table.special(metadata.pairs) if metadata.table else {},
        tensor_count=tensor_count,
        parameter_count=parameter_count_of(metadata.pairs, elements),
        quantization=quantization_of(metadata.pairs, elements),
        shard=shard_of(metadata.pairs),
        header_bytes=stream.offset,
    )


def _read_version(stream: Stream) -> Steps[tuple[int, layout.ByteOrder]]:
    yield from stream.begin()
    yield from stream.need(len(layout.MAGIC))
    start = stream.block[: len(layout.MAGIC)]
    if start != layout.MAGIC:
        for magic, what, hint in layout.OTHER_FORMATS:
            if start.lstrip().startswith(magic):
                raise HeaderError(f"{stream.name} is {what}, not a GGUF file", hint=hint)
        raise HeaderError(f"{stream.name} isn't a GGUF file: it starts with {start!r}, not with {layout.MAGIC!r}")
    stream.position += len(layout.MAGIC)
    stream.doing = "its version"
    raw = yield from stream.take_bytes(4)
    orders: tuple[Literal["little"], Literal["big"]] = ("little", "big")
    for order in orders:
        version = int.from_bytes(raw, order)
        if version in layout.VERSIONS:
            return version, order
    raise HeaderError(
        f"{stream.name} is GGUF of version {int.from_bytes(raw, 'little'):,}, and only 1, 2 and 3 are known",
        hint="it is corrupt, or too new for this callgate",
    )
