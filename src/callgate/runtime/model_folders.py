"""GGUF files in the folders where programs keep them. They are listed here, not read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from callgate.runtime.found import FoundModel
from callgate.runtime.hub_choice import SHARD, is_beside_a_model
from callgate.runtime.ollama_store import ollama_files
from callgate.runtime.quarantine import Quarantine
from callgate.settings import Settings
from callgate.vocabulary import ModelRef

DEEPEST = 6
MOST_ENTRIES = 50_000
"""In one folder and all below it, before the search is given up."""
MOST_MODELS = 2_000
MOST_PARTS = 1_000


class _File(NamedTuple):
    path: str
    name: str
    """The way to it from its folder."""
    stat: os.stat_result


def models_in_folders(settings: Settings) -> list[FoundModel]:
    """The models in callgate's own folder, the Hugging Face cache, LM Studio's and Ollama's, each file once. What is in
    quarantine is none.
    """
    seen: set[tuple[int, int]] = set()
    models: list[FoundModel] = []
    marked = Quarantine(settings).marked_paths()
    for found, file in _all_models(settings):
        identity = file.st_dev, file.st_ino  # links of either kind lead to the same
        if identity not in seen and not (marked and os.path.realpath(found.ref.name) in marked):
            seen.add(identity)
            models.append(found)
            if len(models) >= MOST_MODELS:
                break
    return models


def ollama_blob(name: str, settings: Settings) -> str | None:
    """The file of a model of the local Ollama, which may be run without it."""
    full = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    for folder in _ollama_folders(settings):
        for found, _ in ollama_files(folder):
            if found.name == full:
                return found.ref.name
    return None


def _all_models(settings: Settings) -> Iterator[tuple[FoundModel, os.stat_result]]:
    for place, folder in _folders(settings):
        yield from ((_found(file, place), file.stat) for file in _newest_first(_gguf_files(folder)))
    cache = hub_cache_folder(settings)
    yield from ((_found(file, "Hugging Face cache"), file.stat) for file in _newest_first(_cached_files(cache)))
    for folder in _ollama_folders(settings):
        yield from ollama_files(folder)


def _folders(settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.models.dir:
        yield "models folder", os.path.expanduser(settings.models.dir)
    yield "LM Studio's files", os.path.expanduser("~/.lmstudio/models")
    yield "LM Studio's files", os.path.join(_caches(settings), "lm-studio", "models")


def hub_cache_folder(settings: Settings) -> str:
    """Where the hub's programs keep what they fetched."""
    if settings.hub.cache:
        return os.path.expanduser(settings.hub.cache)
    return os.path.join(hub_home(settings), "hub")


def hub_home(settings: Settings) -> str:
    return os.path.expanduser(settings.hub.home or os.path.join(_caches(settings), "huggingface"))


def gguf_names(folder: str) -> list[str]:
    """The GGUF files in `folder` and below it, all of them, as a repository calls them."""
    return [os.path.relpath(path, folder).replace(os.sep, "/") for path in _gguf_paths(folder)]


def _ollama_folders(settings: Settings) -> Iterator[str]:
    if settings.ollama.models:
        yield os.path.expanduser(settings.ollama.models)
    else:
        yield os.path.expanduser("~/.ollama/models")
        yield "/usr/share/ollama/.ollama/models"  # where its service keeps them on Linux


def _caches(settings: Settings) -> str:
    return os.path.expanduser(settings.discovery.caches or "~/.cache")


def _cached_files(cache: str) -> Iterator[_File]:
    """`models--OWNER--NAME/snapshots/REVISION/FILE.gguf`, as OWNER/NAME/FILE.gguf."""
    for entry in _entries(cache):
        kind, _, repository = entry.name.partition("--")
        if kind == "models" and repository:
            for revision in _entries(os.path.join(entry.path, "snapshots")):
                for file in _gguf_files(revision.path):
                    yield file._replace(name=f"{repository.replace('--', '/', 1)}/{file.name}")


def _gguf_files(folder: str) -> Iterator[_File]:
    for path in _gguf_paths(folder):
        with suppress(OSError):  # it has just gone
            if _is_a_model(path):
                yield _File(path, os.path.relpath(path, folder), os.stat(path))


def _gguf_paths(folder: str) -> Iterator[str]:
    left, visited = [(folder, 0)], 0
    while left:
        parent, depth = left.pop()
        for entry in _entries(parent):
            visited += 1
            if visited > MOST_ENTRIES:
                return
            with suppress(OSError):  # a link that leads nowhere
                if entry.name.lower().endswith(".gguf"):
                    if entry.is_file():
                        yield entry.path
                elif depth < DEEPEST and entry.is_dir(follow_symlinks=False):
                    left.append((entry.path, depth + 1))


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except (OSError, ValueError):
        return


def _is_a_model(path: str) -> bool:
    """Not what goes with a model, and of one in several parts only the first, if the others are there."""
    if is_beside_a_model(path):
        return False
    shard = SHARD.fullmatch(path)
    return shard is None or (int(shard["number"]) == 1 and all(map(os.path.isfile, _other_parts(path, shard))))


def _other_parts(path: str, shard: re.Match[str]) -> list[str]:
    count = min(int(shard["count"]), MOST_PARTS)
    return [f"{shard['start']}-{number:05}-of-{shard['count']}{path[-5:]}" for number in range(2, count + 1)]


def _newest_first(files: Iterable[_File]) -> list[_File]:
    return sorted(files, key=lambda file: (-file.stat.st_mtime, file.path))


def _found(file: _File, place: str) -> FoundModel:
    return FoundModel(
        ref=ModelRef("file", os.path.abspath(file.path)),
        name=file.name,
        backend="llamacpp",
        place=place,
        size=_size(file),
        modified=file.stat.st_mtime,
    )


def _size(file: _File) -> int:
    """Of all parts that are there."""
    shard = SHARD.fullmatch(file.path)
    size = file.stat.st_size
    for part in _other_parts(file.path, shard) if shard else ():
        with suppress(OSError):
            size += os.stat(part).st_size
    return size
