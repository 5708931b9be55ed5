"""Removes a fetched model: all its files, and what went with it if it was the last of its repository."""

from __future__ import annotations

import os

from callgate.runtime import Quarantine, candidates_in, gguf_names, hub_cache_folder, projector_in, remove_with_content
from callgate.settings import Settings
from callgate.vocabulary import NotFound, UsageError


def files_of(path: str, settings: Settings) -> list[str]:
    """What belongs to the model at `path`, which has to lie where `callgate pull` puts models.

    Raises: NotFound, UsageError.
    """
    path = os.path.abspath(path)
    folder = _snapshot(path, settings)
    if not os.path.lexists(path):
        raise NotFound(f"there is no file {path!r}")
    names = gguf_names(folder)
    name = os.path.relpath(path, folder).replace(os.sep, "/")
    candidates = candidates_in(names)
    found = next((candidate for candidate in candidates if name in candidate.files), None)
    files = list(found.files) if found else [name]
    if len(candidates) == 1 and (projector := projector_in(names)) and projector not in files:
        files.append(projector)
    return [os.path.join(folder, *file.split("/")) for file in files]


def remove(files: list[str], settings: Settings) -> int:
    """Gives the bytes that are free now. Raises: FetchFailed."""
    freed = sum(remove_with_content(file) for file in files)
    Quarantine(settings).lift(files[0])
    return freed


def _snapshot(path: str, settings: Settings) -> str:
    """The folder that stands for the repository."""
    cache = os.path.abspath(hub_cache_folder(settings))
    parts = os.path.relpath(path, cache).split(os.sep)
    if len(parts) > 3 and parts[0].startswith("models--") and parts[1] == "snapshots":
        return os.path.join(cache, *parts[:3])
    if settings.models.dir:
        own = os.path.abspath(os.path.expanduser(settings.models.dir))
        if os.path.commonpath([own, path]) == own:
            return os.path.dirname(path)
    raise UsageError(
        f"{path!r} isn't in a folder of models that callgate looks after",
        hint="remove it with the program that it belongs to",
    )
