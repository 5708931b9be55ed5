"""What came of one turn, and what was wrong with it."""

from __future__ import annotations

from typing import Any

import msgspec

from callgate.vocabulary import ToolCall

LONGEST_TEXT = 2_000
"""Characters of an answer that are kept."""
MOST_CALLS = 50


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one turn."""

    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    pieces: int = 0
    was_cut: bool = False

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        if self.calls:
            shown["calls"] = [{"name": call.name, "arguments": call.arguments} for call in self.calls[:MOST_CALLS]]
        if self.text or not self.calls:
            shown["text"] = self.text if len(self.text) <= LONGEST_TEXT else self.text[:LONGEST_TEXT] + "…"
        return shown


class Fault(msgspec.Struct, frozen=True):
    kind: str
    reason: str
