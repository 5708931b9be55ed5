"""Bytes as they come: what the header's grammar is read from, forwards only, with every claim checked first."""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct
from typing import Any, TypeVar

from callgate.detect.gguf.layout import MAX_HEADER
from callgate.vocabulary import HeaderError

T = TypeVar("T")
Steps = Generator[None, bytes, T]
"""A piece of work that yields whenever it has to wait for the next block."""


class Stream:
    """The current block, a position in it, and ways to get on."""

    def __init__(self, name: str, size: int | None) -> None:
        self.name = name
        self.size = size
        self.block = b""
        self.position = 0
        self.doing = "its first bytes"
        """What is being read, for the messages."""
        self._before_block = 0
        self._received = 0
        self._next: tuple[bytes, int] | None = None
        """A block that the current one was taken from, and how far."""

    @property
    def offset(self) -> int:
        """The position in the file."""
        return self._before_block + self.position

    def begin(self) -> Steps[None]:
        """Wait for the first block, before anything is said about it."""
        yield from self._next_block()

    def need(self, count: int) -> Steps[None]:
        """Make sure that `count` bytes from the position on are in the block."""
        have = len(self.block) - self.position
        if have >= count:
            return
        self.check(count)
        if not have:
            yield from self._next_block()
            have = len(self.block) - self.position
            if have >= count:
                return
        # What lies across the ends of blocks is put together on its own: copying whole blocks would take longer than
        # reading them.
        offset = self.offset
        pieces = []
        while True:
            pieces.append(self.block[self.position : self.position + count])
            self.position += len(pieces[-1])
            count -= len(pieces[-1])
            if not count:
                break
            yield from self._next_block()
        self._next = (self.block, self.position)
        self.block = b"".join(pieces)
        self.position = 0
        self._before_block = offset

    def skip(self, count: int) -> Steps[None]:
        """Pass over `count` bytes without holding them."""
        self.check(count)
        while (beyond := count - (len(self.block) - self.position)) > 0:
            count = beyond
            yield from self._next_block()
        self.position += count

    def take(self, number: Struct) -> Steps[Any]:
        yield from self.need(number.size)
        value = number.unpack_from(self.block, self.position)[0]
        self.position += number.size
        return value

    def take_bytes(self, count: int) -> Steps[bytes]:
        yield from self.need(count)
        start = self.position
        self.position += count
        return self.block[start : self.position]

    def check(self, count: int) -> None:
        """Raises: HeaderError, if `count` bytes more are too many for the file, or for us."""
        end = self.offset + count
        if self.size is not None and end > self.size:
            raise HeaderError(
                f"{self.name} is truncated or corrupt: {self.doing} takes {count:,} bytes at byte {self.offset:,}, "
                f"but the file ends after {self.size:,}",
                hint="fetch the file again",
            )
        if end > MAX_HEADER:
            raise self.corrupt(f"{self.doing} takes {count:,} bytes, and no header has more than {MAX_HEADER:,}")

    def corrupt(self, why: str) -> HeaderError:
        return HeaderError(f"{self.name} is corrupt at byte {self.offset:,}: {why}", hint="fetch the file again")

    def ended(self) -> HeaderError:
        """There are no more blocks."""
        if not self._received:
            return HeaderError(f"{self.name} is empty")
        return HeaderError(
            f"{self.name} is truncated: it ends after {self._received:,} bytes, in the middle of {self.doing}",
            hint="fetch the file again",
        )

    def _next_block(self) -> Steps[None]:
        """Leave this block, read to its end, for the one after it."""
        self._before_block += len(self.block)
        if self._next is not None:
            self.block, self.position = self._next
            self._before_block -= self.position
            self._next = None
        else:
            self.block, self.position = b"", 0
            self.block = yield
            self._received += len(self.block)
