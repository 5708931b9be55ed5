"""What a model said in one turn, put together."""

from __future__ import annotations

from collections.abc import Iterable

from callgate.vocabulary import (
    AssistantDelta,
    Done,
    Event,
    Message,
    Notice,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
)


class Said:
    """Hears the events of one turn."""

    __slots__ = ("_texts", "_thoughts", "calls", "done", "notices", "used")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self.calls: list[ToolCall] = []
        self.notices: list[Notice] = []
        self.used: list[Usage] = []
        self.done: Done | None = None

    def hear(self, event: Event) -> None:
        if type(event) is AssistantDelta:
            self._texts.append(event.text)
        elif type(event) is ThinkingDelta:
            self._thoughts.append(event.text)
        elif type(event) is Usage:
            self.used.append(event)
        elif type(event) is Done:
            self.done = event
        elif type(event) is ToolCallEvent:
            self.calls.append(event.call)
        elif type(event) is Notice:
            self.notices.append(event)

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        return "".join(self._thoughts)

    @property
    def is_something(self) -> bool:
        return bool(self._texts or self._thoughts or self.calls)

    def message(self) -> Message:
        return Message(role="assistant", content=self.text, thinking=self.thinking or None, calls=tuple(self.calls))


def summed(used: Iterable[Usage]) -> Usage | None:
    """Of several turns together; `None` if nothing was told."""
    used = tuple(used)
    prompts = [usage.prompt_tokens for usage in used if usage.prompt_tokens is not None]
    answers = [usage.completion_tokens for usage in used if usage.completion_tokens is not None]
    return Usage(sum(prompts) if prompts else None, sum(answers) if answers else None) if used else None
