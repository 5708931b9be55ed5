"""Small damage to bytes, of the kinds that parsers get wrong. Follows from the generator alone."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

__all__ = ["mutate"]

LONGEST = 1 << 20
BOUNDARIES = [0, 1, 2, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 4096, 65535, 65536]
EDGES = sorted({edge for bits in (8, 16, 32, 64) for edge in (2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1)})
INTERESTING = [*BOUNDARIES, *EDGES]
WIDTHS = [("B", 1), ("H", 2), ("I", 4), ("Q", 8)]


def mutate(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    """One to a few kinds of damage, one after the other."""
    for _ in range(1 << rng.choice((0, 0, 0, 1, 1, 2, 3))):
        data = rng.choice(_KINDS)(data, pool, rng)
    return data[:LONGEST]


def _flip(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    return _set(data, rng, lambda old: old ^ (1 << rng.randrange(8)))


def _replace(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    return _set(data, rng, lambda _old: rng.randrange(256))


def _nudge(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    return _set(data, rng, lambda old: (old + rng.choice((-1, 1))) & 255)


def _set(data: bytes, rng: random.Random, change: Callable[[int], int]) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes((change(data[at]),)) + data[at + 1 :]


def _integer(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    code, width = rng.choice(WIDTHS)
    at = rng.randrange(len(data) + 1)
    number = struct.pack(rng.choice("<>") + code, rng.choice(INTERESTING) & ((1 << 8 * width) - 1))
    return data[:at] + number + data[at + width :]


def _cut(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _remove(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 8, 64)) + data[end:]


def _swap(data: bytes, _: Sequence[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[start:end] + data[at:]


def _splice(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    other = rng.choice(pool)
    start, end = _span(other, rng)
    at = rng.randrange(len(data) + 1)
    overwrite = rng.random() < 0.5
    return data[:at] + other[start:end] + data[at + (end - start if overwrite else 0) :]


def _cross(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    other = rng.choice(pool)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 4, 8, 16, 64, 256)))


_KINDS = [_flip, _flip, _replace, _nudge, _integer, _integer, _cut, _remove, _repeat, _swap, _splice, _cross]
