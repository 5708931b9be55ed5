"""Patience with a hub that stumbles: when to ask again, and when to give up."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

PASSING = (408, 429, 500, 502, 503, 504)
"""Statuses that may be others in a moment."""
FIRST_PAUSE = 0.5
MOST_TRIES = 6
"""In a row without a byte, of a download."""
MOST_QUESTIONS = 4
"""Of what is asked before: somebody waits for the answer."""
LONG_WAIT = 3.0
LONGEST_WAIT = 120.0
"""Seconds. A hub that wants us to wait longer is left to the user."""

_LIMIT = re.compile(r'"[^"]*"\s*;\s*r=(\d{1,9})\s*;\s*t=(\d{1,9})')


class Patience:
    """Counts failures in a row. Whatever goes well starts the count anew."""

    def __init__(self, tries: int = MOST_TRIES, told: Callable[[float], None] = lambda _: None) -> None:
        """`told` hears if a server wants us to wait so long that people would wonder."""
        self._tries = tries
        self._told = told
        self._failures = 0

    def went_well(self) -> None:
        self._failures = 0

    async def may_try_again(self, wait: float | None = None) -> bool:
        """Waits a while, as long as the hub said if it did; not at all where there is no point in another try."""
        self._failures += 1
        if self._failures >= self._tries or (wait is not None and wait > LONGEST_WAIT):
            return False
        if wait is not None and wait >= LONG_WAIT:
            self._told(wait)
        pause = FIRST_PAUSE * 2 ** (self._failures - 1)
        await asyncio.sleep(pause * random.uniform(0.75, 1.25) if wait is None else wait)  # noqa: S311
        return True


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds, of an answer with `Retry-After` or with a limit that is used up."""
    told = {name.lower(): value for name, value in headers.items()}
    if (after := told.get("retry-after", "").strip()[:64]) != "":
        if after.isascii() and after.isdigit():
            return float(after[:9])
        try:
            return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
        except (ValueError, OverflowError, TypeError, IndexError):
            return None
    limit = _LIMIT.search(told.get("ratelimit", "")[:256])
    return float(limit[2]) if limit and int(limit[1]) == 0 else None
