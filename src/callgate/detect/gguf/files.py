"""Where a header's bytes come from: a file on disk, or blocks that somebody else fetches."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterable
from pathlib import Path

from callgate.detect.gguf.header import Header
from callgate.detect.gguf.reader import HeaderReader
from callgate.vocabulary import NotFound, UsageError

_FIRST_BLOCK = 64 << 10  # holds all of a header without a vocabulary, and shows at once what isn't GGUF
_BLOCK = 128 << 10  # larger ones cost more in fresh memory than they save in calls


def read_header(path: str | os.PathLike[str]) -> Header:
    """Read the header of a GGUF file on disk.

    Raises: HeaderError, if it has none or a broken one; NotFound or UsageError, if it can't be read.
    """
    name = repr(os.fspath(path))
    try:
        # Before it is opened: opening a pipe would wait for its writer.
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise UsageError(f"{name} is not a file", hint="name the .gguf file itself")
        with Path(path).open("rb", buffering=0) as file:
            reader = HeaderReader(name, os.fstat(file.fileno()).st_size)
            size = _FIRST_BLOCK
            while block := file.read(size):
                if header := reader.feed(block):
                    return header
                size = _BLOCK
            return reader.end()
    except FileNotFoundError:
        raise NotFound(f"there is no file {name}") from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise UsageError(f"{name} can't be read: {reason}") from problem


async def read_header_from(blocks: AsyncIterable[bytes], name: str = "the file", size: int | None = None) -> Header:
    """Read a header out of `blocks`, which start at the file's first byte. No more of them are asked for than it takes.

    Raises: HeaderError, and whatever `blocks` raises.
    """
    reader = HeaderReader(name, size)
    try:
        async for block in blocks:
            if header := reader.feed(block):
                return header
        return reader.end()
    finally:
        # A generator that is left behind half-way would keep its connection until it is collected.
        if close := getattr(blocks, "aclose", None):
            await close()
