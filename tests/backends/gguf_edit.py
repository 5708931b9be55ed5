"""Gives a GGUF file other chat templates, and leaves everything else in it as it is."""

from __future__ import annotations

from pathlib import Path
from struct import pack, unpack_from

from callgate.detect import read_header

_STRING = 8
_ALIGNMENT = 32
_COUNT_OF_KEYS = 16


def with_templates(source: Path, target: Path, default: str, **variants: str) -> Path:
    """Writes `source` to `target` with the chat template `default`, and with `variants` of it by name."""
    data = source.read_bytes()
    end = read_header(source).header_bytes
    header, weights = bytearray(data[:end]), data[end + -end % _ALIGNMENT :]
    key = pack("<Q", 23) + b"tokenizer.chat_template" + pack("<I", _STRING)
    at = header.index(key) + len(key)
    (length,) = unpack_from("<Q", header, at)
    new = _text(default.encode())
    for name, template in variants.items():
        new += _text(f"tokenizer.chat_template.{name}".encode()) + pack("<I", _STRING) + _text(template.encode())
    header[at : at + 8 + length] = new
    (count,) = unpack_from("<Q", header, _COUNT_OF_KEYS)
    header[_COUNT_OF_KEYS : _COUNT_OF_KEYS + 8] = pack("<Q", count + len(variants))
    target.write_bytes(bytes(header) + bytes(-len(header) % _ALIGNMENT) + weights)
    return target


def _text(raw: bytes) -> bytes:
    return pack("<Q", len(raw)) + raw
