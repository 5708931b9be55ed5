"""What the first look at a server's model needs, and takes long to load: it is loaded before anybody waits for it."""

from __future__ import annotations

import sys

from callgate.runtime import in_own_thread
from callgate.vocabulary import ModelRef

_SLOW = ("aiohttp",)
_HERE = ("file", "scripted", "tiny", "tiny-plain")


def load() -> None:
    """In a thread, for it takes some hundred milliseconds."""
    from importlib import import_module

    for name in _SLOW:
        import_module(name)


async def loaded(ref: ModelRef | None = None) -> None:
    """Until it is, while the event loop goes on; at once, if it is for a model on this machine's disk."""
    if ref is not None and ref.scheme in _HERE and "://" not in ref.name:
        return
    if not all(name in sys.modules for name in _SLOW):
        await in_own_thread(load, name="callgate-preload")
