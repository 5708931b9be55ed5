"""The line below the prompt: model, mode, speed, and how much of its context is taken."""

from __future__ import annotations

from callgate.chat.meter import FULL_SHARE
from callgate.chat.tables import cut, width_of
from callgate.chat.views import Status


def status_line(status: Status, columns: int) -> str:
    """What matters most comes first; what has no room is left out."""
    if not status.model:
        return cut("starting …", columns)
    parts = [status.model, status.mode, status.doing, _context(status), _speed(status)]
    line = ""
    for part in filter(None, parts):
        longer = f"{line} · {part}" if line else part
        if line and width_of(longer) > columns:
            break
        line = longer
    return cut(line, columns)


def _speed(status: Status) -> str:
    return f"{status.speed:.0f} tokens/s" if status.speed else ""


def _context(status: Status) -> str:
    if status.context is None:
        return f"{status.used:,} tokens" if status.used else ""
    used = status.used or 0
    share = used / status.context
    words = f"{used:,} of {status.context:,} tokens ({share:.0%})"
    return f"! {words}: nearly full" if share >= FULL_SHARE else words
