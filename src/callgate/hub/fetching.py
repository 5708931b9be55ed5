"""All files of a model, one after the other: from where the hub has them to where users find them."""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from callgate.detect import TemplateSandbox
from callgate.hub.background import in_background
from callgate.hub.choosing import Choice
from callgate.hub.client import HubClient
from callgate.hub.digests import verified
from callgate.hub.looking import Looked, look_at_file, look_at_header
from callgate.hub.partial import Partial
from callgate.hub.records import HubFile, Location, Repository
from callgate.hub.shelves import Shelf, shelf_for
from callgate.hub.transfer import NoRanges, Transfer
from callgate.hub.waiting import alone
from callgate.runtime import Quarantine
from callgate.settings import Settings
from callgate.vocabulary import FetchFailed, NoSpace, WrongHash
from callgate.wire import HttpClient

MOST_CONNECTIONS = 16


class Watcher(Protocol):
    def fetching(self, name: str, done: int, total: int, fetched: int) -> None: ...

    def checking(self, name: str, done: int, total: int) -> None: ...

    def note(self, text: str) -> None: ...


class FetchedFile(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    path: str
    size: int
    sha256: str
    hash_checked: bool
    """Against what the hub said; it may have said nothing."""
    bytes_fetched: int
    bytes_resumed: int


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    files: tuple[FetchedFile, ...]
    """The model's own, the one with the header first."""
    projector: FetchedFile | None = None
    is_shared: bool

    @property
    def path(self) -> str:
        return self.files[0].path

    @property
    def all(self) -> tuple[FetchedFile, ...]:
        return (*self.files, *([self.projector] if self.projector else []))


class Fetcher:
    """Fetches one model."""

    def __init__(
        self,
        hub: HubClient,
        http: HttpClient,
        repository: Repository,
        choice: Choice,
        settings: Settings,
        watcher: Watcher,
    ) -> None:
        self._hub = hub
        self._http = http
        self._repository = repository
        self._choice = choice
        self._settings = settings
        self._watcher = watcher
        self._shelf: Shelf = shelf_for(repository, settings)
        self._locations: dict[str, Location] = {}
        self._digests: dict[str, str] = {}
        """Of files that were here and have been checked, by where they are and what changes when they do."""
        self._quarantine = Quarantine(settings)

    async def locate(self) -> None:
        """Where all of it is, so that whatever the hub objects to comes up before anything moves."""
        for file in self._choice.files:
            self._locations[file.name] = await self._hub.locate(self._repository, file)

    async def look(self, sandbox: TemplateSandbox) -> Looked:
        """At the header of the model; of one that is here, without asking anybody. Raises as `look_at_header` does, and
        WrongHash of one that was here and isn't what it should be.
        """
        file = self._choice.files[0]
        location = self._locations[file.name]
        weights = sum(self._locations[each.name].expected.size for each in self._choice.model_files)
        if here := self._here(file):
            await self._checked_again(here, file, location)
            return await look_at_file(here, file.name, weights, self._settings, sandbox)
        transfer = Transfer(self._hub, self._http, self._repository, file, location)
        partial = Partial(self._shelf.partial(location.tag), location.expected.size)
        looked = await look_at_header(transfer, partial, file.name, weights, self._settings, sandbox)
        self._locations[file.name] = transfer.location
        return looked

    async def fetch(self, front: dict[int, bytes]) -> Fetched:
        """`front`: parts of the first file that were fetched already. Raises: NoSpace, WrongHash, FetchFailed …"""
        self._require_space()
        done = [await self._fetch(file, {} if number else front) for number, file in enumerate(self._choice.files)]
        for file in reversed(self._choice.files):
            await self._show(file)
        self._shelf.remember_revision()
        count = len(self._choice.model_files)
        projector = done[count] if self._choice.projector else None
        return Fetched(files=tuple(done[:count]), projector=projector, is_shared=self._shelf.is_shared)

    async def _show(self, file: HubFile) -> None:
        location = self._locations[file.name]
        async with self._alone(file):
            if not self._here(file):  # a pull of the same content took it where that one wanted it
                await self._obtained(file, location, {})
            self._shelf.show(location.tag, file.name)
        self._quarantine.drop_broken(self._repository.id, file.name)

    def _alone(self, file: HubFile) -> AbstractAsyncContextManager[None]:
        return alone(
            self._shelf.lock(self._locations[file.name].tag),
            lambda: self._watcher.note(f"another program is fetching {file.name!r}: waiting for it"),
        )

    def _here(self, file: HubFile) -> str | None:
        """Its content, if it is complete."""
        content = self._shelf.content(self._locations[file.name].tag, file.name)
        return content if os.path.isfile(content) else None

    def _shown(self, file: HubFile) -> str | None:
        path = self._shelf.path(file.name)
        return path if os.path.lexists(path) else None

    async def _fetch(self, file: HubFile, front: dict[int, bytes]) -> FetchedFile:
        location = self._locations[file.name]
        async with self._alone(file):
            digest, fetched, resumed = await self._obtained(file, location, front)
        if not location.expected.algorithm:
            self._watcher.note(f"the hub gave no hash of {file.name!r}: nothing but its size could be checked")
        return FetchedFile(
            name=file.name,
            path=self._shelf.path(file.name),
            size=location.expected.size,
            sha256=digest,
            hash_checked=location.expected.algorithm is not None,
            bytes_fetched=fetched,
            bytes_resumed=resumed,
        )

    async def _obtained(self, file: HubFile, location: Location, front: dict[int, bytes]) -> tuple[str, int, int]:
        """Gives the file's SHA-256, how many bytes came now, and how many were here on their way."""
        if here := self._here(file):
            return await self._checked_again(here, file, location), 0, 0
        if digest := await self._taken_from_another_commit(file, location):
            return digest, 0, 0
        return await self._download(file, location, front)

    async def _taken_from_another_commit(self, file: HubFile, location: Location) -> str | None:
        """The SHA-256 of a file that another commit has too, if that is sure."""
        if not location.expected.algorithm:
            return None
        for other in self._shelf.others(file.name, location.expected.size):
            try:
                digest = await self._checked(other, file, location)
                content = self._shelf.content(location.tag, file.name)
                os.makedirs(os.path.dirname(content), exist_ok=True)
                os.link(other, content)
            except (FetchFailed, OSError):
                continue
            return digest
        return None

    async def _download(self, file: HubFile, location: Location, front: dict[int, bytes]) -> tuple[str, int, int]:
        """Gives the file's SHA-256, how many bytes came now, and how many were here."""
        size = location.expected.size
        partial = Partial(self._shelf.partial(location.tag), size)
        partial.open()
        try:
            resumed = partial.done_bytes
            for number, content in front.items():
                if not partial.has(number):
                    partial.write(number, content)
            seeded = partial.done_bytes - resumed
            progress = _Counter(self._watcher, file.name, size, partial.done_bytes, seeded)
            transfer = Transfer(self._hub, self._http, self._repository, file, location, arrived=progress.arrived)
            await self._receive(transfer, partial)
            fetched = transfer.bytes_fetched + seeded
            try:
                digest = await self._checked(partial.path, file, location)
            except WrongHash as error:
                if resumed:
                    self._watcher.note("what an earlier attempt had left was no good: fetching all of it again")
                    partial.discard()
                    digest, more, _ = await self._download(file, location, {})
                    return digest, fetched + more, 0
                partial.close()
                self._set_apart(partial.path, file, error, move=True)  # it is ours: nobody takes it for a model yet
                partial.discard()
                raise
            await asyncio.to_thread(partial.arrive, self._shelf.content(location.tag, file.name))
        finally:
            partial.close()
        return digest, fetched, resumed

    async def _receive(self, transfer: Transfer, partial: Partial) -> None:
        connections = max(1, min(self._settings.hub.connections, MOST_CONNECTIONS))
        try:
            await transfer.missing_parts(partial, connections)
        except NoRanges:
            await transfer.whole(partial)

    async def _checked(self, path: str, file: HubFile, location: Location) -> str:
        done = 0

        def read(count: int) -> None:
            nonlocal done
            done += count
            self._watcher.checking(file.name, done, location.expected.size)

        return await in_background(lambda: verified(path, file.name, location.expected, read))

    async def _checked_again(self, here: str, file: HubFile, location: Location) -> str:
        """Of what was fetched before, perhaps by somebody else."""
        stat = os.stat(here)
        version = f"{here} {stat.st_ino} {stat.st_size} {stat.st_mtime_ns}"
        if version in self._digests:
            return self._digests[version]
        try:
            digest = self._digests[version] = await self._checked(here, file, location)
        except WrongHash as error:
            self._set_apart(self._shown(file) or here, file, error, move=not self._shelf.is_shared)
            raise
        return digest

    def _set_apart(self, path: str, file: HubFile, error: WrongHash, *, move: bool) -> None:
        entry = self._quarantine.add(
            (path,),
            reason=error.message,
            kind=type(error).__name__,
            repo=self._repository.id,
            revision=self._repository.commit,
            move=move,
            may_return=False,
            name=file.name,
        )
        error.hint = f"it is in quarantine: callgate quarantine delete {entry.id}, then fetch it again"

    def _require_space(self) -> None:
        needed = 0
        for file in self._choice.files:
            location = self._locations[file.name]
            size = location.expected.size
            if not self._here(file) and not self._shelf.others(file.name, size):
                needed += size - Partial(self._shelf.partial(location.tag), size).done_bytes
        folder = self._shelf.folder
        while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
        disk = shutil.disk_usage(folder)
        if needed > disk.free and disk.total:  # nobody keeps files where there is no disk at all
            raise NoSpace(
                f"there is too little room in {folder!r}: {_in_bytes(needed)} to come, {_in_bytes(disk.free)} free",
                hint="make room, choose a smaller quantisation, or name another folder (HF_HUB_CACHE, `models.dir`)",
            )


def _in_bytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 10**9 else f"{size / 1e6:,.1f} MB" if size >= 10**5 else f"{size:,} bytes"


class _Counter:
    """Tells how far a file has come."""

    def __init__(self, watcher: Watcher, name: str, total: int, done: int, fetched: int) -> None:
        self._watcher = watcher
        self._name = name
        self._total = total
        self._done = done
        self._fetched = fetched

    def arrived(self, count: int) -> None:
        self._done += count
        self._fetched += count
        self._watcher.fetching(self._name, min(self._done, self._total), self._total, self._fetched)
