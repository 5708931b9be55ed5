"""Models of the hub that were fetched: where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator

from callgate.runtime.hub_choice import Candidate, candidates_in, narrowed, stays_inside
from callgate.runtime.model_folders import gguf_names, hub_cache_folder
from callgate.runtime.quarantine import Quarantine
from callgate.settings import Settings
from callgate.vocabulary import HubRef, ModelRef, UsageError

_LONGEST_COMMIT = 64


def fetched_file(ref: HubRef, settings: Settings) -> str | None:
    """The file of the model that `ref` names, if all of it is here; without a quantisation, of those that are here.

    Raises: UsageError, if it is in quarantine.
    """
    for folder in _snapshots(ref, settings):
        found = _meant(candidates_in(gguf_names(folder)), ref)
        whole = [os.path.join(folder, *candidate.name.split("/")) for candidate in found if not candidate.missing]
        if whole:
            newest = max(whole, key=os.path.getmtime)
            if entry := Quarantine(settings).entry_of(newest):
                raise UsageError(
                    f"'hf:{ref}' is in quarantine: {entry.reason}",
                    hint=f"callgate pull {ref} looks at it again; callgate quarantine restore {entry.id} lets it go",
                )
            return newest
    return None


def fetched_model(ref: ModelRef, settings: Settings) -> ModelRef:
    """The file of a model of the hub, if it was fetched; every other model is itself.

    Raises: UsageError, if it is in quarantine.
    """
    path = fetched_file(ref.hub, settings) if ref.scheme == "hf" else None
    return ModelRef("file", path) if path else ref


def _meant(candidates: list[Candidate], ref: HubRef) -> list[Candidate]:
    if ref.file:
        return [candidate for candidate in candidates if ref.file in candidate.files]
    return narrowed(candidates, ref.quant)


def _snapshots(ref: HubRef, settings: Settings) -> Iterator[str]:
    """The folders in which the files of that revision would be."""
    revision = ref.revision or "main"
    if not stays_inside(revision) or not stays_inside(ref.repo):
        return
    if settings.models.dir:
        own = os.path.join(os.path.abspath(os.path.expanduser(settings.models.dir)), *ref.repo.split("/"))
        yield os.path.join(own, _commit(own, revision))
    cached = os.path.join(os.path.abspath(hub_cache_folder(settings)), "models--" + ref.repo.replace("/", "--"))
    yield os.path.join(cached, "snapshots", _commit(cached, revision))


def _commit(folder: str, revision: str) -> str:
    """What a branch or a tag stood for when it was last looked at; a commit is itself."""
    try:
        with open(os.path.join(folder, "refs", *revision.split("/")), encoding="ascii") as file:
            commit = file.read(_LONGEST_COMMIT + 1).strip()
    except (OSError, ValueError):
        return revision
    return commit if commit.isalnum() and len(commit) <= _LONGEST_COMMIT else revision
