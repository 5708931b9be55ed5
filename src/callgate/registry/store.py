"""The registry: the file with what the user said and what was observed, read and written by many at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from callgate.registry.layout import CURRENT, LARGEST_FILE, Document, Unreadable
from callgate.registry.locking import PATIENCE_SECONDS, locked
from callgate.registry.records import Fields, ModelRecord
from callgate.registry.telling import tell
from callgate.registry.whole_files import make_folder, read_whole, write_whole
from callgate.vocabulary import ModelRef, StorageError

FILE_NAME = "user_models.json"
SETTLED_SECONDS = 0.1
"""A file that was written just now may be written again without its time or size changing."""
SHORT_PATIENCE = 2.0
_ABSENT = (0, 0, 0)
"""The signature of a file that isn't there: most people have none, and are asked about at every request."""

Change = Callable[[ModelRecord | None], Fields | None]
"""From what is kept of a model to what to change in it; `None`: all of it goes."""


class _Seen(NamedTuple):
    signature: tuple[int, int, int]
    document: Document


class Registry:
    """May be shared by threads; each update is whole, and none is lost, however many processes write.

    A file that can't be read is set aside, and the user told.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        """What a link leads to: the link itself is never replaced."""
        self._seen: _Seen | None = None

    @classmethod
    def in_folder(cls, folder: str) -> Registry:
        return cls(os.path.join(folder, FILE_NAME))

    def get(self, ref: ModelRef) -> ModelRecord | None:
        """What is kept of this model. A file that can't be read is as good as none, and the user told."""
        return self._read().get(ref)

    def records(self) -> Iterator[ModelRecord]:
        """Those that can be made sense of, in the order of the file."""
        return self._read().records

    def problem(self) -> str | None:
        """What is wrong with the file, which is left as it is."""
        try:
            version = self._parsed().version
        except Unreadable as why:
            return f"{self.path!r} is damaged: {why}"
        except StorageError as error:
            return error.message
        return f"{self.path!r} was written by a newer callgate" if version > CURRENT else None

    def update(self, ref: ModelRef, change: Change) -> ModelRecord | None:
        """Changes what is kept of one model, and gives what is kept then. When it returns, it is on disk.

        Raises: StorageError.
        """
        return self.update_each({ref: change})[ref]

    def update_each(self, changes: Mapping[ModelRef, Change]) -> dict[ModelRef, ModelRecord | None]:
        """The same for many models, at one go. What doesn't change anything isn't written.

        Raises: StorageError; UsageError, if a model's name can't be written.
        """
        make_folder(self.path)
        with _told_afterwards() as news, locked(self.path, patience=PATIENCE_SECONDS):
            old = self._current(news)
            if old.version > CURRENT:
                raise StorageError(
                    f"{self.path!r} was written by a newer callgate (its version is {old.version}), and is left alone",
                    hint="update callgate, or let CALLGATE_HOME name another folder",
                )
            new = old
            for ref, change in changes.items():
                fields = change(new.get(ref))
                new = new.without(ref) if fields is None else new.with_fields(ref, fields)
            if new.items != old.items:
                if old.version < CURRENT:
                    self._migrate(new, news)
                else:
                    write_whole(self.path, new.to_bytes())
                self._seen = None
        return {ref: new.get(ref) for ref in changes}

    def forget(self, ref: ModelRef) -> ModelRecord | None:
        """Gives what was kept. Raises: StorageError."""
        kept: ModelRecord | None = None

        def remove(record: ModelRecord | None) -> None:
            nonlocal kept
            kept = record

        self.update(ref, remove)
        return kept

    def _read(self) -> Document:
        try:
            signature = _signature(self.path)
            if self._seen and signature == self._seen.signature:
                return self._seen.document
            document = self._parsed()
            # Only one that had stood still for a while before it was read is surely the one that was read.
            if signature and time.time() - signature[0] / 1e9 > SETTLED_SECONDS:
                self._seen = _Seen(signature, document)
        except Unreadable as why:
            return self._recovered(why)
        except StorageError as error:
            tell(f"what you said of your models isn't heeded: {error.message}")
            return Document()
        return document

    def _recovered(self, why: Unreadable) -> Document:
        """What is there after a file that can't be read has been set aside."""
        try:
            with _told_afterwards() as news, locked(self.path, patience=SHORT_PATIENCE):
                return self._current(news)
        except StorageError as error:
            tell(f"{self.path!r} is damaged ({why}), and couldn't be set aside: {error.message}")
            return Document()

    def _current(self, news: list[str]) -> Document:
        """Under the lock. One that can't be read is set aside. Raises: StorageError."""
        try:
            return self._parsed()
        except Unreadable as why:
            aside = self._moved_to("corrupt")
            news.append(f"{self.path!r} was damaged ({why}); it was set aside as {aside!r}, and a new one begun")
            return Document()

    def _parsed(self) -> Document:
        content = read_whole(self.path, LARGEST_FILE)
        return Document() if content is None else Document.parse(content)

    def _moved_to(self, what: str) -> str:
        aside = self._free_name(what)
        try:
            os.replace(self.path, aside)
        except OSError as error:
            raise StorageError(f"{self.path!r} can't be renamed: {error.strerror}") from None
        return aside

    def _migrate(self, new: Document, news: list[str]) -> None:
        """Writes it in our layout, and keeps what was there in an older one. Raises: StorageError."""
        content = read_whole(self.path, LARGEST_FILE) or b""
        aside = self._free_name("old")
        write_whole(aside, content)
        try:
            write_whole(self.path, new.to_bytes())
        except StorageError:
            with suppress(OSError):  # else each try would leave another
                os.unlink(aside)
            raise
        news.append(
            f"{self.path!r} had an older layout and now has the current one; as it was, it is kept as {aside!r}"
        )

    def _free_name(self, what: str) -> str:
        named = f"{self.path}.{what}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        number, free = 1, named
        while os.path.lexists(free):
            number += 1
            free = f"{named}-{number}"
        return free


@contextmanager
def _told_afterwards() -> Iterator[list[str]]:
    """What is put into the list is told when the lock is let go and all is done: a listener may take its time."""
    news: list[str] = []
    try:
        yield news
    finally:
        for message in news:
            tell(message)


def _signature(path: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return _ABSENT
    except (OSError, ValueError):
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
