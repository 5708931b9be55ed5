"""What a chat asks of whoever shows it: a terminal, a pipe, a program that reads JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from callgate.backends import Loading
from callgate.chat.items import Shown
from callgate.runtime import LoopEvent
from callgate.vocabulary import CallgateError

Kind = Literal["first", "swap", "note", "warning", "question", "reply"]
"""Of a line: `reply` is what a command has to say."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What stands below the prompt."""

    model: str
    mode: str = ""
    speed: float | None = None
    """Tokens a second, of the last answer or of the one that comes."""
    used: int | None = None
    """Tokens of context."""
    context: int | None = None
    doing: str = ""
    """What is waited for."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the user."""

    words: str
    """On a line; the prompt ends with it."""
    before: tuple[str, ...] = ()
    """What has to be known for it, on lines above."""
    choices: Mapping[str, str] = {}
    """What may be typed, with what it means for each; empty: anything."""
    pick: bool = False
    """The choices are shown at once, to be picked from."""
    gives_way: bool = False
    """It waits until nothing is being typed, and who goes on with something else has left it unanswered."""


class View(Protocol):
    def lines(self) -> AsyncIterator[str]:
        """What the user types, until they leave."""
        ...

    @property
    def goes_line_by_line(self) -> bool:
        """Whether the next line is read only when the last is done with."""
        ...

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there to answer."""
        ...

    def tell(self, text: str, kind: Kind = "note", data: Mapping[str, Any] | None = None) -> None:
        """A line of the chat's own, or several. `data` is the same for programs."""
        ...

    def show_text(self, text: str, name: str, data: Mapping[str, Any]) -> None:
        """What a command has to say at length; it may have colours, but nothing of a stranger's that is obeyed."""
        ...

    def show_history(self, items: Sequence[Shown]) -> None: ...

    def begin(self, model: str) -> None:
        """A turn begins."""
        ...

    def show(self, event: LoopEvent) -> None: ...

    def end(self, *, stopped: bool = False) -> None:
        """The turn is over, whatever became of it."""
        ...

    def loading(self, how_far: Loading) -> None: ...

    def failed(self, error: CallgateError) -> None: ...

    def status(self, status: Status) -> None: ...

    async def ask(self, ask: Ask) -> str | None:
        """What the user types; `None` for Enter, Esc, the end of input, or where nobody is there.

        A command is no answer: it is one of `lines`, and so is a message, where the question gives way.
        """
        ...

    async def close(self) -> None:
        """All that was said is shown."""
        ...
