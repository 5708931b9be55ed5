"""Where fetched models are kept: in the Hugging Face cache, which other programs share, or in a folder of ours.

    CACHE/models--OWNER--NAME/blobs/TAG                        the content, by what the hub calls it
                             /snapshots/COMMIT/FILE            a link to it
                             /refs/REVISION                    the commit that a branch or tag stands for
    FOLDER/OWNER/NAME/COMMIT/FILE                              the same in our own folder, without links
          /OWNER/NAME/refs/REVISION
          /.callgate/                                          what is on its way

Content is complete and was verified before it gets its name; a model of several files appears with its first one, last.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import Protocol

from callgate.hub.records import Repository
from callgate.runtime import hub_cache_folder
from callgate.settings import Settings
from callgate.vocabulary import FetchFailed

ON_ITS_WAY = ".callgate"
IN_OUR_FOLDER = ".incomplete"
IN_THE_CACHE = ".callgate.incomplete"
"""How files end that are on their way. Not `.incomplete` here: older versions of the hub's library would go on at the
end of such a file, and ours has holes.
"""


class Shelf(Protocol):
    """The place of one repository's files, at one commit."""

    is_shared: bool
    """Other programs use what lies here: nothing may be moved or changed."""
    folder: str

    def path(self, file: str) -> str:
        """Where users find it."""
        ...

    def content(self, tag: str, file: str) -> str:
        """Where its content is, or will be once it was verified."""
        ...

    def partial(self, tag: str) -> str: ...

    def lock(self, tag: str) -> str: ...

    def show(self, tag: str, file: str) -> None:
        """Content that is there appears under its name. Raises: FetchFailed."""
        ...

    def others(self, file: str, size: int) -> list[str]:
        """Files of other commits that may be the same; of a shelf that keeps contents by what they are, none."""
        ...

    def remember_revision(self) -> None:
        """Which commit the revision stands for. Raises: FetchFailed."""
        ...


def shelf_for(repository: Repository, settings: Settings) -> Shelf:
    """In the user's folder of models, where there is one, else in the hub's cache."""
    if settings.models.dir:
        return OwnFolder(os.path.abspath(os.path.expanduser(settings.models.dir)), repository)
    return HubCache(os.path.abspath(hub_cache_folder(settings)), repository)


class HubCache:
    is_shared = True

    def __init__(self, cache: str, repository: Repository) -> None:
        name = "models--" + repository.id.replace("/", "--")
        self.folder = os.path.join(cache, name)
        self._locks = os.path.join(cache, ".locks", name)
        self._snapshot = os.path.join(self.folder, "snapshots", repository.commit)
        self._repository = repository

    def path(self, file: str) -> str:
        return os.path.join(self._snapshot, *file.split("/"))

    def content(self, tag: str, file: str) -> str:
        path = self.path(file)
        in_its_place = os.path.isfile(path) and not os.path.islink(path)  # where there are no links
        return path if in_its_place else os.path.join(self.folder, "blobs", tag)

    def partial(self, tag: str) -> str:
        return os.path.join(self.folder, "blobs", tag + IN_THE_CACHE)

    def lock(self, tag: str) -> str:
        """The one that the hub's own library takes."""
        return os.path.join(self._locks, f"{tag}.lock")

    def show(self, tag: str, file: str) -> None:
        path, content = self.path(file), self.content(tag, file)
        if os.path.exists(path) and os.path.samefile(path, content):
            return
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            link = f"{path}.{secrets.token_hex(4)}.tmp"
            try:
                os.symlink(os.path.relpath(content, os.path.dirname(path)), link)
            except (OSError, NotImplementedError):
                os.replace(content, path)
            else:
                os.replace(link, path)
        except OSError as error:
            raise FetchFailed(f"{path!r} can't be written: {error.strerror}") from None

    def others(self, file: str, size: int) -> list[str]:  # noqa: ARG002
        return []

    def remember_revision(self) -> None:
        _remember(self._repository, self.folder)


class OwnFolder:
    is_shared = False

    def __init__(self, root: str, repository: Repository) -> None:
        self.folder = os.path.join(root, *repository.id.split("/"))
        self._way = os.path.join(root, ON_ITS_WAY)
        self._repository = repository

    def path(self, file: str) -> str:
        return os.path.join(self.folder, self._repository.commit, *file.split("/"))

    def content(self, tag: str, file: str) -> str:
        path = self.path(file)
        return path if os.path.exists(path) else os.path.join(self._way, tag)

    def partial(self, tag: str) -> str:
        return os.path.join(self._way, tag + IN_OUR_FOLDER)

    def lock(self, tag: str) -> str:
        return os.path.join(self._way, f"{tag}.lock")

    def show(self, tag: str, file: str) -> None:
        path, content = self.path(file), self.content(tag, file)
        if path == content:
            return
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.replace(content, path)
        except OSError as error:
            raise FetchFailed(f"{path!r} can't be written: {error.strerror}") from None

    def others(self, file: str, size: int) -> list[str]:
        with suppress(OSError):
            paths = [os.path.join(self.folder, commit, *file.split("/")) for commit in os.listdir(self.folder)]
            return [path for path in paths if os.path.isfile(path) and os.path.getsize(path) == size]
        return []

    def remember_revision(self) -> None:
        _remember(self._repository, self.folder)


def _remember(repository: Repository, folder: str) -> None:
    if repository.revision != repository.commit:
        _note(os.path.join(folder, "refs", *repository.revision.split("/")), repository.commit)


def _note(path: str, text: str) -> None:
    """Written whole or not at all."""
    new = f"{path}.{secrets.token_hex(4)}.tmp"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(new, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(new, path)
    except OSError as error:
        with suppress(OSError):
            os.remove(new)
        raise FetchFailed(f"{path!r} can't be written: {error.strerror}") from None
