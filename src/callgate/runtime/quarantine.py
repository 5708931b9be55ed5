"""Models that nobody should run: which, and why. A mark for those in a cache that others share, a move for our own.

Each has a file of its own in the folder of callgate's data, so that many processes can write at once.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from contextlib import suppress
from typing import Any

import msgspec

from callgate.runtime.report import timestamp
from callgate.settings import Settings
from callgate.vocabulary import FetchFailed, NotFound, UsageError, WrongHash

MOST_ENTRIES = 10_000
LARGEST_ENTRY = 1 << 20
_MOVED = ".quarantined"


class Quarantined(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    path: str
    """Where the model was, or still is if it only got a mark."""
    files: tuple[str, ...]
    """All its files, `path` among them."""
    moved: bool
    """They are beside their old places, with another ending."""
    may_return: bool = True
    """What isn't what the hub announced would lie about itself for ever."""
    reason: str
    kind: str
    """The error's name."""
    repo: str
    revision: str
    size: int
    at: float
    name: str = ""
    """What the repository calls the file, of one that never got to its place."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where its files are now."""
        return tuple(file + _MOVED for file in self.files) if self.moved else self.files

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "repo": self.repo,
            "revision": self.revision,
            "path": self.path,
            "size": self.size,
            "reason": self.reason,
            "type": self.kind,
            "moved": self.moved,
            "at": timestamp(self.at),
        }


class Quarantine:
    def __init__(self, settings: Settings) -> None:
        self._folder = os.path.join(settings.data_folder, "quarantine")

    def entries(self) -> list[Quarantined]:
        """The oldest first. What can't be read is none."""
        names: list[str] = []
        with suppress(OSError):
            names = [name for name in os.listdir(self._folder) if name.endswith(".json")][:MOST_ENTRIES]
        found = [entry for name in names if (entry := self._read(name))]
        return sorted(found, key=lambda entry: (entry.at, entry.id))

    def marked_paths(self) -> set[str]:
        """The files that are no models for now, by where they really are."""
        return {os.path.realpath(file) for entry in self.entries() if not entry.moved for file in entry.files}

    def entry_of(self, path: str) -> Quarantined | None:
        entry = self._read(f"{_id_of(path)}.json")
        return entry if entry and entry.path == path else None

    def add(
        self,
        files: tuple[str, ...],
        *,
        reason: str,
        kind: str,
        repo: str,
        revision: str,
        move: bool,
        may_return: bool = True,
        name: str = "",
    ) -> Quarantined:
        """`files`: the model's, the one with the header first. Raises: FetchFailed."""
        entry = Quarantined(
            id=_id_of(files[0]),
            path=files[0],
            files=files,
            moved=move,
            may_return=may_return,
            reason=reason,
            kind=kind,
            repo=repo,
            revision=revision,
            size=sum(_size(file) for file in files),
            at=time.time(),
            name=name,
        )
        self._write(entry)
        if move:
            self.move_again(entry)
        return entry

    def move_again(self, entry: Quarantined) -> None:
        """Files that have come to their old places go where the others are. Raises: FetchFailed."""
        for file, place in zip(entry.files, entry.places, strict=True):
            with suppress(FileNotFoundError):
                _moved(file, place)

    def lift(self, path: str) -> None:
        """The model at `path` was tested again, and is good. A copy that was moved away is of no use any more.

        Raises: FetchFailed.
        """
        entry = self.entry_of(path)
        if entry and entry.moved:
            self.delete(entry)
        self._forget(_id_of(path))

    def drop_broken(self, repo: str, name: str) -> None:
        """The file was fetched whole: what came of it before and wasn't what the hub announced can go.

        Raises: FetchFailed.
        """
        for entry in self.entries():
            if (entry.repo, entry.name, entry.moved, entry.kind) == (repo, name, True, WrongHash.__name__) and name:
                self.delete(entry)

    def find(self, wanted: str) -> Quarantined:
        """By the start of its id, or its path. Raises: NotFound, UsageError."""
        entries = self.entries()
        found = [entry for entry in entries if wanted and (entry.id.startswith(wanted) or entry.path == wanted)]
        if not found:
            raise NotFound(f"nothing in quarantine is called {wanted!r}", hint="callgate quarantine list")
        if len(found) > 1:
            raise UsageError(f"{wanted!r} may be any of {', '.join(entry.id for entry in found)}")
        return found[0]

    def restore(self, entry: Quarantined) -> None:
        """Raises: UsageError, if it may not return; FetchFailed."""
        if not entry.may_return:
            raise UsageError(
                f"{entry.path!r} can't be restored: {entry.reason}", hint=f"delete it, and callgate pull {entry.repo}"
            )
        if entry.moved:
            for file, place in zip(entry.files, entry.places, strict=True):
                _moved(place, file)
        self._forget(entry.id)

    def delete(self, entry: Quarantined) -> int:
        """The model's files too; gives the bytes that are free now. Raises: FetchFailed."""
        freed = 0
        for place in entry.places:
            freed += remove_with_content(place)
        self._forget(entry.id)
        return freed

    def _read(self, name: str) -> Quarantined | None:
        try:
            with open(os.path.join(self._folder, name), "rb") as file:
                return msgspec.json.decode(file.read(LARGEST_ENTRY), type=Quarantined)
        except (OSError, msgspec.MsgspecError, RecursionError, ValueError):
            return None

    def _write(self, entry: Quarantined) -> None:
        path = os.path.join(self._folder, f"{entry.id}.json")
        new = f"{path}.{secrets.token_hex(4)}.new"
        try:
            os.makedirs(self._folder, exist_ok=True)
            with open(new, "wb") as file:
                file.write(msgspec.json.encode(entry))
            os.replace(new, path)
        except OSError as error:
            raise FetchFailed(f"{path!r} can't be written: {error.strerror}") from None

    def _forget(self, name: str) -> None:
        with suppress(OSError):
            os.remove(os.path.join(self._folder, f"{name}.json"))


def remove_with_content(path: str) -> int:
    """Removes a file, or a link. What a link leads to goes only if it lies among the contents of the link's own
    repository in the hub's cache, and no other link there leads to it. Gives the bytes that are free now.

    Raises: FetchFailed.
    """
    content = os.path.realpath(path)
    try:
        is_link = os.path.islink(path)
        stat = os.lstat(path)
        os.remove(path)
        if not is_link:
            return stat.st_size if stat.st_nlink == 1 else 0
        contents = _contents_of_its_repository(path)
        if contents is None or os.path.dirname(content) != contents or _is_linked(content):
            return 0
        size = os.path.getsize(content)
        os.remove(content)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise FetchFailed(f"{path!r} can't be removed: {error.strerror}") from None
    return size


def _contents_of_its_repository(path: str) -> str | None:
    """`CACHE/models--OWNER--NAME/blobs`, of a link in `CACHE/models--OWNER--NAME/snapshots/COMMIT`."""
    folder = os.path.realpath(os.path.dirname(path))
    while (parent := os.path.dirname(folder)) != folder:
        repository = os.path.dirname(parent)
        if os.path.basename(parent) == "snapshots" and os.path.basename(repository).startswith("models--"):
            return os.path.join(repository, "blobs")
        folder = parent
    return None


def _is_linked(content: str) -> bool:
    """By another snapshot of the same repository."""
    snapshots = os.path.join(os.path.dirname(os.path.dirname(content)), "snapshots")
    for parent, _, names in os.walk(snapshots):
        if any(os.path.realpath(os.path.join(parent, name)) == content for name in names):
            return True
    return False


def _moved(file: str, place: str) -> None:
    try:
        os.replace(file, place)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FetchFailed(f"{file!r} can't be moved: {error.strerror}") from None


def _id_of(path: str) -> str:
    return hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:12]


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
