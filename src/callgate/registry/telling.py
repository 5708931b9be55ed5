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
    """Each thing once."""
    if message in _said:
        return
    _said.add(message)
    if _listener:
        _listener(message)
        return
    import logging

    logging.getLogger(__name__).warning("%s", message)
