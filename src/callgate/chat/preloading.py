"""What the first look at a server's model needs, and takes long to load: it is loaded before anybody waits for it."""

from __future__ import annotations

import sys

from callgate.runtime import in_own_thread

_SLOW = ("aiohttp",)


def load() -> None:
    """In a thread, for it takes some hundred milliseconds."""
    from importlib import import_module

    for name in _SLOW:
        import_module(name)


async def loaded() -> None:
    """Until it is, while the event loop goes on."""
    if not all(name in sys.modules for name in _SLOW):
        await in_own_thread(load, name="callgate-preload")
