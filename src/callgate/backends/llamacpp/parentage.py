"""Children that end with their parent, also where it was killed and could do nothing for them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """On Linux, have this process killed when its parent ends, whatever it is doing then."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it had ended before that
        os._exit(1)


def when_input_ends(act: Callable[[], None]) -> None:
    """Act when standard input ends: the parent holds its other side, and doesn't let go of it before its own end."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        act()

    threading.Thread(target=wait, name="parent", daemon=True).start()
