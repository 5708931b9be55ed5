"""What a service manager is told, by systemd's protocol: a datagram at the address that it left in the environment."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

_ADDRESS = "NOTIFY_SOCKET"


class Manager:
    """Who started us, if that is one who wants to be told. What we start ourselves has nothing to say to it."""

    def __init__(self) -> None:
        self._address = os.environ.pop(_ADDRESS, "")

    def tell_ready(self, url: str) -> None:
        self._tell(f"READY=1\nSTATUS=answers at {url}")

    def _tell(self, text: str) -> None:
        """One that has gone hears nothing, and nobody is the worse for it."""
        family: int | None = getattr(socket, "AF_UNIX", None)  # Windows has none
        if family is None or not self._address.startswith(("/", "@")):
            return
        # Addresses without a file begin with a byte that no environment can hold.
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as way:
            way.setblocking(False)
            way.sendto(text.encode(), address)
