"""Models of the hub that were fetched: where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator

from callgate.runtime.hub_choice import Candidate, candidates_in, narrowed, stays_inside
from callgate.runtime.model_folders import gguf_names, hub_cache_folder
from callgate.runtime.quarantine import Quarantine, Quarantined
from callgate.settings import Settings
from callgate.vocabulary import HubRef, ModelRef, UsageError

_LONGEST_COMMIT = 64


class InQuarantine(UsageError):
    """A model that was fetched, and that nobody should run."""

    def __init__(self, ref: HubRef, entry: Quarantined) -> None:
        again = f"callgate pull {ref} looks at it again"
        super().__init__(
            f"'hf:{ref}' is in quarantine: {entry.reason}",
            hint=f"{again}; callgate quarantine restore {entry.id} lets it go" if entry.may_return else again,
        )
        self.entry = entry


def fetched_file(ref: HubRef, settings: Settings) -> str | None:
    """The file of the model that `ref` names, if all of it is here; without a quantisation, of those that are here.

    Raises: UsageError, if it is in quarantine.
    """
    quarantine = Quarantine(settings)
    folders = list(_snapshots(ref, settings))
    for folder in folders:
        found = _meant(candidates_in(gguf_names(folder)), ref)
        whole = [os.path.join(folder, *candidate.name.split("/")) for candidate in found if not candidate.missing]
        if whole:
            newest = max(whole, key=os.path.getmtime)
            if entry := quarantine.entry_of(newest):
                raise InQuarantine(ref, entry)
            return newest
    for folder in folders:
        if entry := _moved_away(folder, ref, quarantine):
            raise InQuarantine(ref, entry)
    return None


def _moved_away(folder: str, ref: HubRef, quarantine: Quarantine) -> Quarantined | None:
    """The model that would be meant, were it not in quarantine."""
    entries = {
        os.path.relpath(entry.path, folder).replace(os.sep, "/"): entry
        for entry in quarantine.entries()
        if entry.moved and entry.path.startswith(folder + os.sep)
    }
    names = [os.path.relpath(file, folder).replace(os.sep, "/") for entry in entries.values() for file in entry.files]
    return next((entries[found.name] for found in _meant(candidates_in(names), ref) if found.name in entries), None)


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
