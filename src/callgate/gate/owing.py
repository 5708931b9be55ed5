"""Waits for a call that must come: some servers let a model talk first, and it may never stop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from callgate.vocabulary import AssistantDelta, CallMissing, Done, Event, ToolCallEvent, Usage

MOST_WORDS = 2_000
"""Characters that a model may say before its call."""
MISSING = "it had to call a tool, and didn't"


class OwedCall:
    """Takes what a `Mender` gives, and holds words back until there is a call: without one, nobody gets them."""

    def __init__(self) -> None:
        self._is_made = False
        self._held: list[Event] = []
        self._words = 0

    def feed(self, events: Iterable[Event]) -> Sequence[Event]:
        """What may be passed on. Raises: CallMissing."""
        if self._is_made:
            return tuple(events)
        passed: list[Event] = []
        for event in events:
            if self._is_made:
                passed.append(event)
            elif isinstance(event, ToolCallEvent):
                self._is_made = True
                passed += (*self._held, event)
            elif isinstance(event, AssistantDelta | Usage):
                self._held.append(event)
                self._words += len(event.text) if isinstance(event, AssistantDelta) else 0
            elif isinstance(event, Done):
                raise CallMissing(MISSING)
            else:
                passed.append(event)
        if not self._is_made and self._words > MOST_WORDS:
            raise CallMissing(MISSING)
        return passed
