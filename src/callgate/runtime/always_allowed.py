"""What a user has allowed for good: which tool of which source, kept on disk for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from callgate.registry import locked, make_folder, read_whole, tell, write_whole
from callgate.vocabulary import StorageError

FILE_NAME = "permissions.json"
LARGEST_FILE = 1_000_000
CURRENT = 1


class Allowed(msgspec.Struct, frozen=True):
    """One tool of one source. Two sources of one name are not the same if they say who they are (`identity`)."""

    source: str
    tool: str
    identity: str = ""

    @property
    def path(self) -> str:
        return f"{self.source}/{self.tool}"


class _Document(msgspec.Struct, frozen=True):
    version: int = CURRENT
    always: tuple[Allowed, ...] = ()


class AlwaysAllowed:
    """Read at each question, so that what one terminal takes back holds in the other."""

    def __init__(self, path: str) -> None:
        self._path = path

    @classmethod
    def in_folder(cls, folder: str) -> AlwaysAllowed:
        return cls(os.path.join(folder, FILE_NAME))

    def listed(self) -> tuple[Allowed, ...]:
        """What can't be read allows nothing, and the user is told."""
        try:
            return self._read().always
        except StorageError as error:
            tell(f"what you allowed for good isn't heeded: {error.message}")
            return ()

    def add(self, allowed: Allowed) -> None:
        """Raises: StorageError."""
        self._change(lambda kept: kept if allowed in kept else (*kept, allowed))

    def take_back(self, meant: Callable[[Allowed], bool]) -> tuple[Allowed, ...]:
        """Those that are `meant` go, and are given. Raises: StorageError."""
        gone: list[Allowed] = []

        def without(kept: tuple[Allowed, ...]) -> tuple[Allowed, ...]:
            gone.extend(one for one in kept if meant(one))
            return tuple(one for one in kept if one not in gone)

        if os.path.exists(self._path):
            self._change(without)
        return tuple(gone)

    def _change(self, change: Callable[[tuple[Allowed, ...]], tuple[Allowed, ...]]) -> None:
        make_folder(self._path)
        with locked(self._path):
            kept = self._read()
            if (new := change(kept.always)) != kept.always:
                write_whole(self._path, msgspec.json.format(msgspec.json.encode(_Document(always=new))))

    def _read(self) -> _Document:
        content = read_whole(self._path, LARGEST_FILE)
        if content is None:
            return _Document()
        try:
            document = msgspec.json.decode(content, type=_Document)  # no more than is allowed was read
        except (ValueError, RecursionError) as error:
            raise StorageError(
                f"{self._path!r} can't be read: {error}", hint="remove it, and you are asked again"
            ) from None
        if document.version > CURRENT:
            raise StorageError(f"{self._path!r} was written by a newer callgate, and is left alone")
        return document
