"""Calls that arrive as text: found while it streams, in every format that models write them in.

A format is data over a few grammars, and one engine reads them all. It holds back only what may still become a call.
"""

from callgate.doors import opened_on_use

TYPE_CHECKING = False

if TYPE_CHECKING:
    from callgate.gate.recovery.engine import Recovery
    from callgate.gate.recovery.formats import FORMATS, formats_for
    from callgate.gate.recovery.pieces import Found, Half, Mark, Piece, Text, Thinking
    from callgate.gate.recovery.recovering import Recovered, recover
    from callgate.gate.recovery.shapes import Format

__all__ = [
    "FORMATS",
    "Format",
    "Found",
    "Half",
    "Mark",
    "Piece",
    "Recovered",
    "Recovery",
    "Text",
    "Thinking",
    "formats_for",
    "recover",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "FORMATS": "formats",
        "Format": "shapes",
        "Found": "pieces",
        "Half": "pieces",
        "Mark": "pieces",
        "Piece": "pieces",
        "Recovered": "recovering",
        "Recovery": "engine",
        "Text": "pieces",
        "Thinking": "pieces",
        "formats_for": "formats",
        "recover": "recovering",
    },
)
