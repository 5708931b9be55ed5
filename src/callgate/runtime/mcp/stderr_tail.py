"""What a server says on standard error: kept off the screen, and its last part at hand for who asks."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from typing import TextIO

MOST_KEPT = 65_536
_LONGEST_LINE = 300
_CHUNK = 8_192
_SHORTEST_SECRET = 6
"""Shorter ones would blot out half of every text."""


class StderrTail:
    """A pipe that is read to its end, of which the last part is kept."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = sorted((one for one in secrets if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)
        self._kept = bytearray()
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None

    def opened(self) -> TextIO:
        """A file that a child may have as its standard error. Close it once the child has it."""
        reading, writing = os.pipe()
        # A thread, and not the event loop: it may outlive the loop, and on Windows no loop reads from a plain pipe.
        self._reader = threading.Thread(target=self._read, args=(reading,), name="mcp-stderr", daemon=True)
        self._reader.start()
        return os.fdopen(writing, "w")

    @property
    def is_read(self) -> bool:
        """Whether there is nothing to come any more."""
        return self._reader is None or not self._reader.is_alive()

    def add(self, data: bytes) -> None:
        with self._lock:
            self._kept += data
            if len(self._kept) > MOST_KEPT:
                start = len(self._kept) - MOST_KEPT
                # From a whole line on: half a secret is one still.
                del self._kept[: self._kept.find(b"\n", start) + 1 or start]

    def text(self) -> str:
        """All that is kept, without control characters and without the secrets that the server was given."""
        with self._lock:
            said = bytes(self._kept).decode("utf-8", "replace")
        for secret in self._secrets:
            said = said.replace(secret, "…")
        return "".join(c if c.isprintable() or c in "\n\t" else " " for c in said.replace("\r\n", "\n"))

    def last_line(self) -> str:
        """What went wrong, most likely: the last line that isn't empty, with what the guard says of the end."""
        lines = [line.strip()[:_LONGEST_LINE] for line in self.text().splitlines() if line.strip()]
        if len(lines) > 1 and lines[-1].startswith("[ended "):
            return f"{lines[-2]} {lines[-1]}"
        return lines[-1] if lines else ""

    def _read(self, reading: int) -> None:
        try:
            while data := os.read(reading, _CHUNK):
                self.add(data)
        finally:
            os.close(reading)
