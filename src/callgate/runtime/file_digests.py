"""What is in a model's file, in a few letters: the same on every machine, and for every copy of it.

Small files are read whole. Of large ones the front is read, where header and chat template are, and blocks all over the
rest: any training or other quantization changes those, and nobody waits for gigabytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import BinaryIO

from callgate.detect import BOXED_FILE
from callgate.runtime.files import files_of
from callgate.vocabulary import ModelRef

WHOLE = 16 << 20
FRONT = 4 << 20
BLOCK = 64 << 10
BLOCKS = 128

Stamp = tuple[str, int, int, int]


def content_digest(ref: ModelRef) -> str | None:
    """Of what lies on this machine's disk, `sha256:…`; or `sampled-sha256:…`, if not all of it was read."""
    if ref.is_in_the_box:
        template = os.path.join(os.path.dirname(BOXED_FILE), f"{ref.scheme}.jinja")
        paths: Iterable[str] = [BOXED_FILE, *([template] if os.path.exists(template) else [])]
    elif ref.scheme == "file":
        paths = files_of(ref.name)
    else:
        return None
    try:
        return _digest(tuple(map(_stamp, paths)))
    except (OSError, ValueError):
        return None


def _stamp(path: str) -> Stamp:
    stat = os.stat(path)
    return path, stat.st_size, stat.st_mtime_ns, stat.st_ino


@lru_cache(maxsize=256)
def _digest(files: tuple[Stamp, ...]) -> str:
    """By what changes when the files do: whoever asks again gets the same answer at once. Raises: OSError."""
    whole = sha256()
    for path, size, *_ in files:
        with open(path, "rb") as file:
            if len(files) > 1:
                whole.update(b"%d " % size)
            for piece in _pieces(file, size):
                whole.update(piece)
    is_sampled = any(size > WHOLE for _, size, *_ in files)
    return f"{'sampled-' if is_sampled else ''}sha256:{whole.hexdigest()}"


def _pieces(file: BinaryIO, size: int) -> Iterable[bytes]:
    if size <= WHOLE:
        while piece := file.read(1 << 20):
            yield piece
        return
    yield b"%d " % size
    yield file.read(FRONT)
    for number in range(1, BLOCKS + 1):
        file.seek(FRONT + (size - FRONT - BLOCK) * number // BLOCKS)
        yield file.read(BLOCK)
