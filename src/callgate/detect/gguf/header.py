"""What a GGUF file says about its model before the weights start."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callgate.detect.gguf.layout import ByteOrder

Scalar = bool | int | float | str


class Skipped(msgspec.Struct, frozen=True):
    """A value that was passed over: a long array, or a text too long to be anything but data."""

    type: str
    """Of the array's items; `string` for a text."""
    count: int
    """Items of the array; bytes of the text."""


Value = Scalar | tuple[Scalar | Skipped, ...] | Skipped


class Shard(msgspec.Struct, frozen=True):
    """A file that holds a part of its model. The first one has the metadata."""

    number: int
    """0 is the first."""
    count: int


class Header(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    byte_order: ByteOrder
    metadata: Mapping[str, Value]
    templates: Mapping[str, str]
    """Chat templates by name; the one without a name is `default`."""
    tokens: Mapping[str, str]
    """Special tokens as templates call them: `bos_token`, `eos_token` …"""
    tensor_count: int
    parameter_count: int | None
    """`None` for a shard: it has only some of the tensors."""
    quantization: str | None
    """As the file type says; without one, the type of most parameters."""
    shard: Shard | None
    header_bytes: int
