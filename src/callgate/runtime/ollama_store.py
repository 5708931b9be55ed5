"""Ollama's models on disk: a manifest names the blob that is the GGUF file, so that they can be run without it.

manifests/registry.ollama.ai/library/NAME/TAG
blobs/sha256-…
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from callgate.runtime.found import FoundModel
from callgate.vocabulary import ModelRef

LARGEST_MANIFEST = 1 << 20
MOST_MANIFESTS = 5_000
_MODEL = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256[:-](?P<hash>[0-9a-f]{64})")


class _Layer(msgspec.Struct):
    media_type: str = msgspec.field(name="mediaType", default="")
    digest: str = ""


class _Manifest(msgspec.Struct):
    layers: list[_Layer] = []


_manifests = msgspec.json.Decoder(_Manifest)


def ollama_files(folder: str) -> Iterator[tuple[FoundModel, os.stat_result]]:
    """The models in Ollama's `folder`, by name, each with what the system knows of its file."""
    for number, (name, path) in enumerate(_tags(os.path.join(folder, "manifests"))):
        if number >= MOST_MANIFESTS:
            return
        with suppress(OSError, ValueError, RecursionError, msgspec.MsgspecError):
            manifest = _read(path)
            blob = _blob(folder, manifest)
            if blob and (stat := os.stat(blob)):
                yield _found(name, blob, stat, os.stat(path), manifest), stat


def _found(name: str, blob: str, stat: os.stat_result, manifest_stat: os.stat_result, manifest: bytes) -> FoundModel:
    from hashlib import sha256

    return FoundModel(
        ref=ModelRef("file", os.path.abspath(blob)),
        name=name,
        backend="llamacpp",
        place="Ollama's files",
        size=stat.st_size,
        digest=sha256(manifest).hexdigest(),
        modified=manifest_stat.st_mtime,
    )


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        content = file.read(LARGEST_MANIFEST + 1)
    if len(content) > LARGEST_MANIFEST:
        raise ValueError
    return content


def _blob(folder: str, manifest: bytes) -> str | None:
    """The digest is all that a manifest says of its blob, and it says nothing else than 64 digits."""
    for layer in _manifests.decode(manifest).layers:
        if layer.media_type == _MODEL and (digest := _DIGEST.fullmatch(layer.digest)):
            path = os.path.join(folder, "blobs", f"sha256-{digest['hash']}")
            return path if os.path.isfile(path) else None
    return None


def _tags(manifests: str) -> Iterator[tuple[str, str]]:
    """Each manifest's path, and what Ollama calls its model."""
    for registry in _names(manifests):
        for owner in _names(manifests, registry):
            for model in _names(manifests, registry, owner):
                for tag in _names(manifests, registry, owner, model):
                    path = os.path.join(manifests, registry, owner, model, tag)
                    if os.path.isfile(path):  # opening a pipe would wait for its writer
                        yield _called(registry, owner, model, tag), path


def _called(registry: str, owner: str, model: str, tag: str) -> str:
    if registry != "registry.ollama.ai":
        return f"{registry}/{owner}/{model}:{tag}"
    return f"{model}:{tag}" if owner == "library" else f"{owner}/{model}:{tag}"


def _names(*way: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(os.path.join(*way)) if not name.startswith("."))[:MOST_MANIFESTS]
    except (OSError, ValueError):
        return []
