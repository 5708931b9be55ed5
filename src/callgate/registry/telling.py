"""What a person has to be told about the files that we keep: by whoever shows things to them, or else in the log."""

from __future__ import annotations

from collections.abc import Callable

_listener: Callable[[str], None] | None = None
_said: set[str] = set()


def told_to(listener: Callable[[str], None] | None) -> None:
    """From now on `listener` gets what has to be told; `None`: the log does."""
    global _listener  # noqa: PLW0603
    _listener = listener


def tell(message: str) -> None:
    """Each thing once, from whatever thread. Nothing that the listener does comes back here."""
    if message in _said:
        return
    _said.add(message)
    import logging

    log = logging.getLogger(__name__)
    if _listener is None:
        log.warning("%s", message)
        return
    try:
        _listener(message)
    except Exception as error:  # noqa: BLE001 - whoever tells has a file half done, and it is the listener's trouble
        log.warning("%s (which couldn't be shown: %s)", message, type(error).__name__)
