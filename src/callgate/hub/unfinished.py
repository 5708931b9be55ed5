"""Downloads that nobody finished. They wait to be gone on with, but not for ever: they may be gigabytes."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

import msgspec

from callgate.hub.partial import NOTES
from callgate.hub.shelves import IN_OUR_FOLDER, IN_THE_CACHE, ON_ITS_WAY
from callgate.runtime import hub_cache_folder
from callgate.settings import Settings

STALE_DAYS = 30
RESTING_SECONDS = 3600.0
"""In which whoever fetches it would have written something."""
MOST_FOLDERS = 10_000
MOST_FILES = 10_000
"""In each of them."""


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    lock: str
    """Held by whoever fetches it."""
    repo: str | None
    """As the hub calls it; unknown in a folder of ours, where files on their way lie together."""
    size: int
    """Bytes on the disk: there are holes where nothing has arrived yet."""
    touched_at: float

    @property
    def is_stale(self) -> bool:
        return time.time() - self.touched_at > STALE_DAYS * 86_400


def leftovers(settings: Settings) -> list[Leftover]:
    """Those that rest, the largest first. Nothing is locked or changed."""
    before = time.time() - RESTING_SECONDS
    return sorted((each for each in _all(settings) if each.touched_at < before), key=lambda each: -each.size)


def remove_stale(settings: Settings) -> list[Leftover]:
    """Those that nobody has gone on with for long, and that nobody is at now. Gives what is gone."""
    return [each for each in _all(settings) if each.is_stale and _removed(each)]


def _all(settings: Settings) -> Iterator[Leftover]:
    if settings.models.dir:
        way = os.path.join(os.path.abspath(os.path.expanduser(settings.models.dir)), ON_ITS_WAY)
        yield from _in_folder(way, IN_OUR_FOLDER, locks=way, repo=None)
    cache = os.path.abspath(hub_cache_folder(settings))
    for name in _names(cache, MOST_FOLDERS):
        if name.startswith("models--"):
            blobs, locks = os.path.join(cache, name, "blobs"), os.path.join(cache, ".locks", name)
            repo = name.removeprefix("models--").replace("--", "/", 1)
            yield from _in_folder(blobs, IN_THE_CACHE, locks=locks, repo=repo)


def _names(folder: str, most: int) -> list[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        return [entry.name for entry in islice(entries, most)]
    return []


def _in_folder(folder: str, ending: str, *, locks: str, repo: str | None) -> Iterator[Leftover]:
    for name in _names(folder, MOST_FILES):
        path, tag = os.path.join(folder, name), name.removesuffix(ending)
        if tag == name:
            continue
        with suppress(OSError):
            stat = os.lstat(path)
            touched_at = max(stat.st_mtime, os.lstat(path + NOTES).st_mtime)
            size = min(stat.st_size, getattr(stat, "st_blocks", stat.st_size) * 512)
            lock = os.path.join(locks, f"{tag}.lock")
            yield Leftover(path=path, lock=lock, repo=repo, size=size, touched_at=touched_at)


def _removed(leftover: Leftover) -> bool:
    """Only under its lock, and only if it is still what it was: somebody may have gone on with it meanwhile."""
    from filelock import FileLock, SoftFileLock, Timeout

    with suppress(OSError, NotImplementedError, Timeout), warnings.catch_warnings(action="ignore"):
        os.makedirs(os.path.dirname(leftover.lock), exist_ok=True)
        with FileLock(leftover.lock, mode=0o664, timeout=0) as lock:
            if isinstance(lock, SoftFileLock) or os.lstat(leftover.path).st_mtime > leftover.touched_at:
                return False
            os.remove(leftover.path)
            os.remove(leftover.path + NOTES)
        if leftover.repo:
            _tidy(os.path.dirname(leftover.path))
        return True
    return False


def _tidy(blobs: str) -> None:
    """Nothing stays of a repository of which nothing else was fetched."""
    for folder in (blobs, os.path.dirname(blobs)):
        with suppress(OSError):
            os.rmdir(folder)
