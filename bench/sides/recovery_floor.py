"""What no engine can be faster than: a call of a function that hands each chunk on."""

import platform

from bench.measure import emit, timed
from bench.sides.recovery_texts import PLAIN, PLAIN_NAME


class HandOn:
    def feed(self, text: str) -> tuple[str]:
        return (text,)


def read() -> int:
    pieces, reader = 0, HandOn()
    for chunk in PLAIN:
        pieces += len(reader.feed(chunk))
    return pieces


emit(
    PLAIN_NAME,
    timed(read, rounds=7, warm_up=1) / len(PLAIN) * 1e6,
    "µs",
    f"handed on, Python {platform.python_version()}",
)
