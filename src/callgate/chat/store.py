"""Where conversations are kept: a file for each, in a folder that only its owner can read."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Callable, Iterator

import msgspec

from callgate.chat.cleaning import on_one_line
from callgate.chat.conversation import Conversation, OpenElsewhere
from callgate.chat.items import Said, read_item
from callgate.vocabulary import NotFound, StorageError, UsageError

FOLDER = "conversations"
_SUFFIX = ".jsonl"
_NAME = re.compile(r"[\w][\w .+@-]{0,79}")
MOST_LISTED = 200
TITLE_BYTES = 64 << 10
LONGEST_TITLE = 60


class Kept(msgspec.Struct, frozen=True):
    """A conversation in the list."""

    name: str
    at: float
    """When it was last written to."""
    title: str
    """How it begins."""


class Conversations:
    def __init__(self, data_folder: str, told: Callable[[str], None]) -> None:
        self._folder = os.path.join(data_folder, FOLDER)
        self._told = told

    def new(self) -> Conversation:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        return Conversation(self._path(f"{stamp}-{secrets.token_hex(2)}"), self._told)

    def load(self, name: str | None = None) -> tuple[Conversation, bool]:
        """The one of that name, or that starts like it, or the last one; and whether it is a copy, since another chat
        has it open.

        Raises: NotFound; StorageError, if it can't be read.
        """
        path = self._path(self.named(name))
        try:
            return Conversation.opened(path, self._told), False
        except OpenElsewhere:
            copy = self.new()
            copy.copy_from(_read_only(path, self._told))
            return copy, True

    def save(self, conversation: Conversation, name: str) -> None:
        """Under this name from now on. Raises: UsageError, StorageError."""
        if not _NAME.fullmatch(name) or name != name.strip():
            raise UsageError(
                f"{name[:80]!r} can't be the name of a conversation", hint="letters, digits and spaces can"
            )
        conversation.rename(self._path(name))

    def listed(self, most: int = MOST_LISTED) -> list[Kept]:
        """The last first."""
        try:
            with os.scandir(self._folder) as entries:
                found = [(entry.stat().st_mtime, entry.name) for entry in entries if entry.name.endswith(_SUFFIX)]
        except OSError:
            return []
        found.sort(reverse=True)
        return [Kept(name.removesuffix(_SUFFIX), at, self._title(name)) for at, name in found[:most]]

    def names(self) -> Iterator[str]:
        try:
            yield from (name.removesuffix(_SUFFIX) for name in os.listdir(self._folder) if name.endswith(_SUFFIX))
        except OSError:
            return

    def named(self, name: str | None = None) -> str:
        """The whole name of the one that is meant, as `load` takes it. Raises: NotFound."""
        if not name:
            last = next((kept.name for kept in self.listed(1)), None)
            if last is None:
                raise NotFound("there is no conversation yet", hint="`callgate chat` starts one")
            return last
        names = sorted(self.names())
        if name in names:
            return name
        alike = [known for known in names if known.startswith(name)]
        if len(alike) == 1:
            return alike[0]
        if alike:
            raise NotFound(f"{name[:80]!r} may be {alike[0]!r} or {alike[1]!r}", hint="write more of its name")
        raise NotFound(f"there is no conversation {name[:80]!r}", hint="/load lists them")

    def _title(self, file: str) -> str:
        try:
            with open(os.path.join(self._folder, file), "rb") as opened:
                lines = opened.read(TITLE_BYTES).splitlines()
        except OSError:
            return ""
        for item in map(read_item, lines):
            if isinstance(item, Said) and item.message.role == "user":
                title = on_one_line(item.message.content)
                return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
        return ""

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}{_SUFFIX}")


def _read_only(path: str, told: Callable[[str], None]) -> Conversation:
    conversation = Conversation(path, told)
    try:
        conversation.read()
    except OSError as error:
        raise StorageError(f"{path!r} can't be read: {error.strerror}") from None
    return conversation
