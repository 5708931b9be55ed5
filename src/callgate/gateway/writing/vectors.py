"""Vectors as clients want them: shorter, or packed."""

from __future__ import annotations

import math
import sys
from array import array
from base64 import b64encode
from collections.abc import Sequence


def shortened(vector: Sequence[float], dimensions: int | None) -> Sequence[float]:
    """Its first numbers, made as long as 1 again. A vector that isn't longer stays as it is."""
    if dimensions is None or dimensions >= len(vector):
        return vector
    first = vector[:dimensions]
    length = math.hypot(*first)
    return [number / length for number in first] if length else first


def packed(vector: Sequence[float]) -> str:
    """As 32-bit numbers, the lowest byte first, in base64."""
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode()
