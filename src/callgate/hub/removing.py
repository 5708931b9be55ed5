"""Removes a fetched model: all its files, and what went with it if it was the last of its repository."""

from __future__ import annotations

import os
from contextlib import suppress

from callgate.runtime import Quarantine, candidates_in, gguf_names, hub_cache_folder, projector_in, remove_with_content
from callgate.settings import Settings
from callgate.vocabulary import NotFound, UsageError

_LONGEST_NOTE = 100


def files_of(path: str, settings: Settings) -> list[str]:
    """What belongs to the model at `path`, which has to lie where `callgate pull` puts models.

    Raises: NotFound, UsageError.
    """
    path = os.path.abspath(path)
    folder, is_of_a_pull = _snapshot(path, settings)
    if not os.path.lexists(path):
        raise NotFound(f"there is no file {path!r}")
    names = gguf_names(folder)
    name = os.path.relpath(path, folder).replace(os.sep, "/")
    candidates = candidates_in(names)
    found = next((candidate for candidate in candidates if name in candidate.files), None)
    files = list(found.files) if found else [name]
    is_last = is_of_a_pull and found is not None and len(candidates) == 1
    if is_last and (projector := projector_in(names)):
        files.append(projector)
    return [os.path.join(folder, *file.split("/")) for file in files]


def remove(files: list[str], settings: Settings) -> int:
    """Gives the bytes that are free now. Raises: FetchFailed, UsageError."""
    folder, is_of_a_pull = _snapshot(os.path.abspath(files[0]), settings)
    freed = sum(remove_with_content(file) for file in files)
    Quarantine(settings).lift(files[0])
    if is_of_a_pull:
        _tidy(folder)
    return freed


def _snapshot(path: str, settings: Settings) -> tuple[str, bool]:
    """The folder that stands for the repository, and whether it has nothing in it but what was fetched from there."""
    cache = os.path.abspath(hub_cache_folder(settings))
    parts = _way(cache, path)
    if len(parts) > 3 and parts[0].startswith("models--") and parts[1] == "snapshots":
        return os.path.join(cache, *parts[:3]), True
    if settings.models.dir:
        own = os.path.abspath(os.path.expanduser(settings.models.dir))
        parts = _way(own, path)
        if len(parts) > 3 and _is_a_commit(parts[2]):
            return os.path.join(own, *parts[:3]), True
        if parts:
            return os.path.dirname(path), False
    raise UsageError(
        f"{path!r} isn't in a folder of models that callgate looks after",
        hint="remove it with the program that it belongs to",
    )


def _way(folder: str, path: str) -> list[str]:
    """From `folder` to `path`, by names and really; nothing if one of both leads out of it."""
    real = os.path.realpath(os.path.dirname(path))
    for start, end in ((folder, path), (os.path.realpath(folder), os.path.join(real, os.path.basename(path)))):
        try:
            if os.path.commonpath([start, end]) != start:
                return []
        except ValueError:  # on another drive
            return []
    return os.path.relpath(path, folder).split(os.sep)


def _is_a_commit(name: str) -> bool:
    return len(name) == 40 and all(letter in "0123456789abcdef" for letter in name)


def _tidy(snapshot: str) -> None:
    """No folder stays that has nothing in it, nor a branch that leads to one."""
    for parent, _, _ in os.walk(snapshot, topdown=False):
        with suppress(OSError):
            os.rmdir(parent)
    if os.path.isdir(snapshot):
        return
    above = os.path.dirname(snapshot)
    repository = os.path.dirname(above) if os.path.basename(above) == "snapshots" else above
    for parent, _, names in os.walk(os.path.join(repository, "refs"), topdown=False):
        for name in names:
            with suppress(OSError, ValueError):
                note = os.path.join(parent, name)
                with open(note, encoding="ascii") as file:
                    commit = file.read(_LONGEST_NOTE).strip()
                if commit == os.path.basename(snapshot):
                    os.remove(note)
        with suppress(OSError):
            os.rmdir(parent)
    for folder in dict.fromkeys((above, os.path.join(repository, "blobs"), repository)):
        with suppress(OSError):
            os.rmdir(folder)
