"""May this tool be run? What is harmless, yes; what the user allowed or denied, as they said; all else is asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from callgate.registry import tell
from callgate.runtime.always_allowed import Allowed, AlwaysAllowed
from callgate.runtime.masking import shown_arguments
from callgate.runtime.tool_source import ToolSource
from callgate.runtime.toolbox import ToolEntry
from callgate.settings import Settings
from callgate.vocabulary import StorageError, ToolCall

log = logging.getLogger(__name__)

Reply = Literal["yes", "no", "always"]
Reason = Literal["harmless", "allowed", "always", "agreed", "denied", "declined", "nobody_to_ask"]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a user is asked before a tool is run."""

    entry: ToolEntry
    call: ToolCall

    @property
    def arguments(self) -> str:
        """On one line, secrets masked. Not yet fit for a terminal: there may be control characters in it."""
        return shown_arguments(self.call)


class Decision(msgspec.Struct, frozen=True):
    may_run: bool
    reason: Reason
    told: str = ""
    """To the model, where it may not."""


Asker = Callable[[Question], Awaitable[Reply]]
"""Asks the user; whatever goes wrong there is a no."""


class Permissions:
    """Of one user, in one session. What is denied by a pattern is denied, whatever else allows it."""

    def __init__(
        self,
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        ask: Asker | None = None,
        kept: AlwaysAllowed | None = None,
    ) -> None:
        """`allow` and `deny` are globs: of names as the model gets them, or of `SOURCE/TOOL`. Without `ask` there is
        nobody to be asked, and without `kept` what is always allowed is so in this session only.
        """
        self._allow = tuple(allow)
        self._deny = tuple(deny)
        self._ask = ask
        self._kept = kept
        self._always: dict[Allowed, None] = {}
        """What couldn't be kept."""
        self._asking = asyncio.Lock()

    @classmethod
    def of(
        cls, settings: Settings, *, allow: Iterable[str] = (), deny: Iterable[str] = (), ask: Asker | None = None
    ) -> Permissions:
        """As the settings say, and what is kept; `allow` and `deny` come on top."""
        tools = settings.tools
        return cls(
            allow=(*allow, *_patterns(tools.allow)),
            deny=(*deny, *_patterns(tools.deny)),
            ask=ask,
            kept=AlwaysAllowed.in_folder(settings.data_folder),
        )

    @property
    def always(self) -> tuple[Allowed, ...]:
        """What the user has allowed for good."""
        return tuple({**self._always, **dict.fromkeys(self._kept.listed() if self._kept else ())})

    def take_back(self, pattern: str) -> tuple[Allowed, ...]:
        """From now on these are asked again. Raises: StorageError."""

        def meant(allowed: Allowed) -> bool:
            return fnmatchcase(allowed.path, pattern) or fnmatchcase(allowed.tool, pattern)

        gone = dict.fromkeys(filter(meant, self._always))
        for allowed in gone:
            del self._always[allowed]
        kept = self._kept.take_back(meant) if self._kept else ()
        return tuple(gone | dict.fromkeys(kept))

    async def decide(self, entry: ToolEntry, call: ToolCall, source: ToolSource | None = None) -> Decision:
        """One question at a time, so that an "always" holds for those that wait."""
        async with self._asking:
            if (decision := self._decided(entry, source)) is not None:
                return decision
            if self._ask is None:
                return Decision(False, "nobody_to_ask", "the user has to allow this tool first, and can't be asked now")
            try:
                reply = await self._ask(Question(entry=entry, call=call))
            except Exception as error:  # noqa: BLE001 - it is the asker's, and what isn't a yes is a no
                log.warning("nobody could be asked for %r (%s)", entry.path, type(error).__name__)
                reply = "no"
            if reply == "always":
                self._remember(_allowed(entry, source))
            if reply in ("yes", "always"):
                return Decision(True, "agreed")
            return Decision(False, "declined", "the user didn't allow this call; don't try it again")

    def _decided(self, entry: ToolEntry, source: ToolSource | None) -> Decision | None:
        """Without asking."""
        # A pattern that denies is read generously, one that allows by the letter: a stranger may name a tool alike.
        if any(
            fnmatchcase(name, pattern)
            for pattern in self._deny
            for name in (entry.name, entry.own_name, entry.path, entry.source)
        ):
            return Decision(False, "denied", "the user's settings don't allow this tool")
        if any(entry.matches(pattern) for pattern in self._allow):
            return Decision(True, "allowed")
        if entry.is_harmless:
            return Decision(True, "harmless")
        return Decision(True, "always") if _allowed(entry, source) in self.always else None

    def _remember(self, allowed: Allowed) -> None:
        """In one place only: what is on disk may be taken back by somebody else."""
        if self._kept:
            try:
                self._kept.add(allowed)
            except StorageError as error:
                tell(f"that this is always allowed holds for now only: {error.message}")
            else:
                return
        self._always[allowed] = None


def _allowed(entry: ToolEntry, source: ToolSource | None) -> Allowed:
    identity = getattr(source, "identity", "")
    return Allowed(entry.source, entry.own_name, identity if isinstance(identity, str) else "")


def _patterns(setting: str | None) -> list[str]:
    return [pattern for part in (setting or "").split(",") if (pattern := part.strip())]
