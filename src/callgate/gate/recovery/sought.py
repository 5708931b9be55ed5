"""What an answer is looked through for: made once for all that are answers to the same tools."""

from __future__ import annotations

from functools import lru_cache

from callgate.gate.recovery.formats import KNOWN
from callgate.gate.recovery.lookout import Lookout, lookout
from callgate.gate.recovery.offered import Offers
from callgate.gate.recovery.shapes import Format
from callgate.tools import Names


@lru_cache(maxsize=64)
def sought(names: Names | None, formats: tuple[Format, ...] | None, mends: bool) -> tuple[Offers, Lookout, bool]:
    """The tools, the literals of the formats, and whether a bare call may begin within a line."""
    tried = KNOWN if formats is None else formats
    anywhere = names is None or (tried != KNOWN and any(known.inline for known in tried))
    return Offers(names, mends=mends), lookout(tried, anywhere=anywhere), anywhere
