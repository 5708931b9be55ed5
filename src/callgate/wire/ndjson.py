"""Lines out of a stream of bytes: NDJSON's framing, however the bytes are cut."""

from __future__ import annotations

from callgate.vocabulary import BadAnswer

MAX_LINE_BYTES = 16 << 20


class Lines:
    """Feed it what arrives; it gives the lines that are whole, without their ends. Blank ones don't count."""

    def __init__(self, place: str, *, limit: int = MAX_LINE_BYTES) -> None:
        self._place = place
        self._limit = limit
        self._begun = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Raises: BadAnswer, if a line is longer than the limit."""
        first, *others = piece.split(b"\n")
        self._begun += first
        if not others:
            self._check(len(self._begun))
            return []
        lines = [bytes(self._begun), *others]
        self._begun = bytearray(lines.pop())
        if len(piece) > self._limit or len(lines[0]) > self._limit:
            self._check(max(map(len, lines)))
            self._check(len(self._begun))
        return [line for line in lines if line and not line.isspace()]

    def close(self) -> bytes:
        """What came after the last line's end."""
        rest, self._begun = bytes(self._begun).strip(), bytearray()
        return rest

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise BadAnswer(f"{self._place} sent a line of more than {self._limit >> 20} MiB")
