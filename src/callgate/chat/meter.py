"""How fast a model answers, and how much of its context is taken."""

from __future__ import annotations

import time
from collections.abc import Sequence

from callgate.runtime import LoopEvent, tokens_of_message, tokens_of_text
from callgate.vocabulary import AssistantDelta, Message, ThinkingDelta, ToolCallEvent, Usage

FULL_SHARE = 0.85
"""Of the context, from which on it is said that it runs out."""
FEWEST_PIECES = 3
"""Before that a speed says nothing."""


class Meter:
    """Of one chat. A piece of an answer is about a token; what the server says of it afterwards is believed."""

    def __init__(self) -> None:
        self.speed: float | None = None
        self.used: int | None = None
        self._started = 0.0
        self._pieces = 0
        self._last = 0.0

    def hear(self, event: LoopEvent) -> None:
        now = time.monotonic()
        match event:
            case AssistantDelta() | ThinkingDelta():
                if self._pieces == 0:
                    self._started = now
                self._pieces += 1
                self._last = now
                self._reckon(self._pieces - 1)
            case ToolCallEvent():
                self._last = now
            case Usage(prompt, completion):
                if prompt is not None:
                    self.used = prompt + (completion or 0)
                if completion and self._pieces >= FEWEST_PIECES:
                    self._reckon(completion - 1)
                self._pieces = 0

    def begin(self) -> None:
        self._pieces = 0

    def forget(self, messages: Sequence[Message]) -> None:
        """The conversation is another one, or another model reads it: nobody has counted yet."""
        self.speed = None
        self.used = sum(map(tokens_of_message, messages)) or None

    def _reckon(self, tokens: int) -> None:
        took = self._last - self._started
        if self._pieces >= FEWEST_PIECES and took > 0:
            self.speed = tokens / took

    def warning(self, context: int | None, coming: str = "") -> str | None:
        """Where what there is and what is `coming` leave little room for an answer."""
        if not context:
            return None
        need = (self.used or 0) + tokens_of_text(coming)
        if need < FULL_SHARE * context:
            return None
        left = "nothing is" if need >= context else f"about {context - need:,} are"
        return (
            f"the conversation takes about {need:,} of {context:,} tokens of context, and {left} left: "
            "/clear starts afresh, /undo takes back"
        )
