"""How long a server wants to be left alone."""

from __future__ import annotations

import math
import time

LONGEST_SECONDS = 3_600
"""What it says beyond that is no pause but a mistake."""
_LONGEST_TEXT = 64


def seconds_in(retry_after: str) -> int | None:
    """Of a `Retry-After`, which has seconds or a date; `None` where it says nothing."""
    said = retry_after.strip()[:_LONGEST_TEXT]
    if not said:
        return None
    if said.isascii() and said.isdecimal():
        return min(int(said), LONGEST_SECONDS)
    from email.utils import parsedate_to_datetime

    try:
        seconds = parsedate_to_datetime(said).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return None
    return min(max(math.ceil(seconds), 0), LONGEST_SECONDS)
