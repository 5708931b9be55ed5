"""The line below the prompt: model, mode, speed, and how much of its context is taken."""

from __future__ import annotations

from callgate.chat.meter import FULL_SHARE
from callgate.chat.tables import cut, width_of
from callgate.chat.views import Status
from callgate.chat.words import in_thousands


def status_line(status: Status, columns: int) -> str:
    """What matters most comes first; what has no room is said in short, or left out."""
    if not status.model:
        return cut("starting …", columns)
    context, doing = _context(status), (status.doing,)
    urgent_first = (context, doing) if _is_nearly_full(status) else (doing, context)
    line = ""
    for ways in ((status.model,), (status.mode,), *urgent_first, (_speed(status),)):
        longer = (f"{line} · {way}" if line else way for way in ways if way)
        line = next((text for text in longer if width_of(text) <= columns), line or cut(status.model, columns))
    return line


def _speed(status: Status) -> str:
    return f"{status.speed:.0f} tokens/s" if status.speed else ""


def _is_nearly_full(status: Status) -> bool:
    return bool(status.context) and (status.used or 0) >= FULL_SHARE * (status.context or 0)


def _context(status: Status) -> tuple[str, ...]:
    """At length and in short."""
    if status.context is None:
        return (f"{status.used:,} tokens" if status.used else "",)
    used = status.used or 0
    share = f"{used / status.context:.0%}"
    words = f"{used:,} of {status.context:,} tokens ({share})"
    if _is_nearly_full(status):
        return f"! {words}: nearly full", f"! {share} full"
    return words, f"{share} of {in_thousands(status.context)}"
