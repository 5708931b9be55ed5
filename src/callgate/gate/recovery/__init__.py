"""Calls that arrive as text: found while it streams, in every format that models write them in.

A format is data over a few grammars, and one engine reads them all. It holds back only what may still become a call.
"""

from callgate.doors import opened_on_use

TYPE_CHECKING = False

if TYPE_CHECKING:
    from callgate.gate.recovery.pieces import Found, Mark, Piece, Text, Thinking

__all__ = ["Found", "Mark", "Piece", "Text", "Thinking"]

__getattr__ = opened_on_use(
    __name__,
    {"Found": "pieces", "Mark": "pieces", "Piece": "pieces", "Text": "pieces", "Thinking": "pieces"},
)
