"""What several servers know together, through one Redis: keys, servers that are out, verdicts, answers to go on from.

Redis is a help and no need: while it is away each server goes by itself, and no request fails for it. What is read
there is as strange to us as what a client sends: bounded, typed, and left out where it is broken.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.gateway.sharing.key_ring import KeyRing
    from callgate.gateway.sharing.key_rows import SharedKey
    from callgate.gateway.sharing.membership import Shared

__all__ = ["KeyRing", "Shared", "SharedKey"]

__getattr__ = opened_on_use(__name__, {"KeyRing": "key_ring", "Shared": "membership", "SharedKey": "key_rows"})
