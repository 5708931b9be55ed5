"""A case: what a model is asked, what it is offered, and what would be right.

Cases are data, in files of JSON or TOML; see `case_files`. Any text in one may have `{name}` in it, which stands for
one of its values or secrets. An argument that is nothing but `{name}` becomes the value itself, a number or a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from callgate.validate.heard import Fault, Heard
from callgate.vocabulary import Tool

SecretKind = Literal["number", "code", "word"]
MOST_TOKENS = 256
ALL_TOOLS = "*"


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that has to be made. Arguments are compared as their schema means them: 5 is 5.0 where numbers are."""

    name: str | tuple[str, ...]
    """Of the tool; of several, if any of them is right."""
    arguments: dict[str, Any] | str = {}
    """A text only where one value of the case has them all: `{arguments}`."""
    accept: dict[str, tuple[Any, ...]] = {}
    """Other values that are as good, by argument."""
    optional: dict[str, tuple[Any, ...]] = {}
    """Arguments that may be there, with one of these values, or be left out."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,) if isinstance(self.name, str) else self.name


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a right turn looks like."""

    calls: tuple[ExpectedCall, ...] | None = None
    """In any order. An empty list: there must be none, but an answer."""
    ordered: bool = False
    """The calls have to come in the order in which they stand here."""
    more_calls: bool = False
    """Beside these there may be others, as long as they fit their schema."""
    any_valid_call: bool = False
    """At least one call, of whatever tool, and each fits its schema."""
    mentions: tuple[str | tuple[str, ...], ...] = ()
    """What the answer has to have in it; of several in a list, one."""
    avoids: tuple[str, ...] = ()
    """What it must not have in it."""
    no_numbers: bool = False
    """It has no number in it: there is none that it could know."""
    json: Any = None
    """The answer is JSON, and this."""
    pieces: int = 0
    """The answer comes in at least so many pieces."""

    @property
    def says_nothing(self) -> bool:
        """There is nothing in it that a turn could do wrong; how calls are ordered matters only where there are any."""
        return msgspec.structs.replace(self, ordered=False, more_calls=False, pieces=max(0, self.pieces)) == Expected()

    @property
    def has_calls(self) -> bool:
        """Whether a right turn has any."""
        return bool(self.calls) or self.any_valid_call


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens after a turn with calls."""

    results: dict[str, str | tuple[str, ...]]
    """What came of them, by tool; of several calls of one tool a list, in the order of the calls that are expected."""
    expect: Expected
    repeats: int = 0
    """How often it may call again before it answers; it gets the same results. After an error, that is no mistake."""


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing to try, in several wordings and with several values."""

    name: str
    check: str
    """What it shows of the model, in one word for programs: `toolCall`, `noToolCall` …"""
    about: str
    """The same in words for people."""
    quick: bool = False
    """It belongs to the quick suite, too."""
    ask: tuple[str, ...]
    """Wordings of the question."""
    expect: Expected
    then: tuple[Step, ...] = ()
    tools: tuple[str, ...] = ()
    """By name; `*`: all that the folder of cases has."""
    values: tuple[dict[str, Any], ...] = ({},)
    """Each trial takes one of them."""
    secrets: dict[str, SecretKind] = {}
    """Made up anew for each trial, so that nobody can guess them: a `number`, a `code`, or a `word`."""
    system: str | None = None
    history: tuple[dict[str, Any], ...] = ()
    """What was said before, as OpenAI's messages."""
    tool_choice: str | None = None
    tools_off: bool = False
    """Tools are offered, and switched off."""
    stream: bool = True
    schema: dict[str, Any] | None = None
    """To which the answer is held."""
    max_tokens: int = MOST_TOKENS
    """Of one turn. Models that think get more."""

    @property
    def has_no_mode(self) -> bool:
        """No tool reaches the model, so that it makes no difference how tools would."""
        return self.tools_off or not self.tools or self.tool_choice == "none"


OwnJudge = Callable[[Heard, bool], Fault | None]
"""What was wrong with the turn; `None`, if it was right. True: a call that callgate had to mend was wrong."""


class KnownCase(msgspec.Struct, frozen=True):
    """A case with the tools that it names."""

    case: Case
    tools: tuple[Tool, ...]
    is_users: bool = False
    """It is out of a folder of the user's, and belongs to every suite."""
    own_judge: OwnJudge | None = None
    """Of a case out of somebody else's suite: judged by their rules, put in their very words, and tried once."""
    own_expected: Any = None
    """What that judge expects, as JSON."""
