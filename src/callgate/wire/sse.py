"""Server-sent events, out of bytes that arrive in pieces of any size."""

from __future__ import annotations

from callgate.vocabulary import BadAnswer

LARGEST_EVENT = 16 << 20
"""Bytes. A longer one is no part of an answer but an attempt on our memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# As numbers, because a byte that is looked for as `bytes` takes ten times as long to find.
_NEWLINE, _RETURN = b"\n\r"


class SseDecoder:
    """Gives the data of each event as soon as the event is whole. Comments and all other fields are passed over."""

    def __init__(self, place: str) -> None:
        self._place = place
        """Who sends them, as it may be shown."""
        self._rest = bytearray()
        """Of a line whose end hasn't come yet."""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._after_return = False
        self._started = False

    def feed(self, piece: bytes) -> list[bytes]:
        """The events that `piece` completes. Raises: BadAnswer, if one is too large."""
        if self._started and not (self._rest or self._data or self._after_return):
            # Most servers send one event at a time, and whole.
            data = piece[6:-2]
            is_framed = piece[:6] == b"data: " and piece[-2:] == b"\n\n"
            if is_framed and _NEWLINE not in data and _RETURN not in data and len(piece) <= LARGEST_EVENT:
                return [data]
        if _RETURN in piece or self._after_return:
            piece = self._with_newlines(piece)
        end = piece.rfind(b"\n")
        if end < 0:
            self._keep(piece)
            return []
        lines = piece[:end].split(b"\n")
        if self._rest:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        if not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        events = self._events(lines)
        if end + 1 < len(piece):
            self._keep(piece[end + 1 :])
        return events

    def close(self) -> list[bytes]:
        """What is left when the stream has ended: an event that lacks nothing but its last empty line."""
        return self._events([bytes(self._rest), b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if line[:5] == b"data:":
                self._data_bytes += len(line) + 1
                if self._data_bytes > LARGEST_EVENT:
                    raise self._too_large()
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if data:
                    events.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
                    self._data_bytes = 0
            elif line.startswith(b"error:"):  # as llama-server had it until 2025
                events.append(b'{"error":' + line[6:] + b"}")
        return events

    def _with_newlines(self, piece: bytes) -> bytes:
        """Lines may end in LF, CR or both, and both may be torn apart."""
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")
            self._after_return = False
        if piece:
            self._after_return = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _keep(self, piece: bytes) -> None:
        self._rest += piece
        if len(self._rest) > LARGEST_EVENT:
            raise self._too_large()

    def _too_large(self) -> BadAnswer:
        return BadAnswer(f"{self._place} sent an event of more than {LARGEST_EVENT >> 20} MiB")
