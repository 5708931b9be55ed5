"""Which model of a repository is fetched, and what goes with it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

import msgspec

from callgate.backends import memory_to_run
from callgate.hub.records import HubFile, Repository
from callgate.runtime import Candidate, candidates_in, is_beside_a_model, narrowed, projector_in
from callgate.settings import LlamaCpp
from callgate.vocabulary import Facts, HubRef, NotFound, UsageError

MOST_SHOWN = 20


class Choice(msgspec.Struct, frozen=True):
    candidate: Candidate
    files: tuple[HubFile, ...]
    """All that is fetched: the model's, the one with the header first; then its projector."""
    projector: HubFile | None = None

    @property
    def model_files(self) -> tuple[HubFile, ...]:
        return self.files[: len(self.candidate.files)]

    @property
    def size(self) -> int | None:
        """Of the model alone."""
        return total([file.size for file in self.model_files])

    @property
    def total_size(self) -> int | None:
        return total([file.size for file in self.files])


def choose(repository: Repository, ref: HubRef, ask: Callable[[Sequence[Candidate]], Candidate | None]) -> Choice:
    """Raises: NotFound, if there is no such model; UsageError, if several may be meant and nobody says which."""
    candidates = candidates_in(repository.names)
    found = _named(candidates, ref, repository) if ref.file else narrowed(candidates, ref.quant)
    if not candidates:
        raise NotFound(f"{repository.id!r} has no GGUF files", hint="look for a repository whose name ends in GGUF")
    if not found:
        there = ", ".join(dict.fromkeys(candidate.quant or candidate.name for candidate in candidates[:MOST_SHOWN]))
        raise NotFound(f"{repository.id!r} has no GGUF file of quantisation {ref.quant!r}", hint=f"it has: {there}")
    chosen = found[0] if len(found) == 1 else ask(found)
    if chosen is None:
        some = ", ".join(candidate.name for candidate in found[:MOST_SHOWN])
        raise UsageError(
            f"{repository.id!r} has several models, and which is meant isn't clear: {some}",
            hint=f"name one: callgate pull {repository.id}/{found[0].name}",
        )
    if chosen.missing:
        raise NotFound(
            f"{chosen.name!r} is a part of a model, and {chosen.missing} of its parts aren't in {repository.id!r}",
            hint=f"callgate pull --list {repository.id}",
        )
    projector = projector_in(repository.names)
    beside = repository.file(projector) if projector else None
    files = (*(repository.file(name) for name in chosen.files), *([beside] if beside else []))
    return Choice(chosen, files, beside)


def total(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _named(candidates: Sequence[Candidate], ref: HubRef, repository: Repository) -> list[Candidate]:
    """The model that a file belongs to: of a part, all of it."""
    found = [candidate for candidate in candidates if ref.file in candidate.files]
    if found:
        return found
    if ref.file in repository.names and is_beside_a_model(ref.file):
        raise UsageError(f"{ref.file!r} goes with a model, and is none", hint=f"callgate pull {repository.id}")
    near = difflib.get_close_matches(ref.file or "", repository.names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise NotFound(f"{repository.id!r} has no file {ref.file!r}", hint=f"{hint}callgate pull --list {repository.id}")


def fits(size: int, free: int) -> bool:
    """By the size of its files; its header would tell more."""
    return memory_to_run(Facts(name="", at=0.0), size, LlamaCpp()) <= free


def does_not_fit(repository: Repository, needed: int, free: int) -> str:
    """What to tell whoever chose a model that takes more memory than there is."""
    told = f"it takes about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free"
    sizes = {
        candidate: size
        for candidate in candidates_in(repository.names)
        if (size := total([repository.file(name).size for name in candidate.files])) and fits(size, free)
    }
    if not sizes:
        return told
    largest = max(sizes, key=lambda candidate: sizes[candidate])
    return f"{told}; {largest.quant or largest.name} would fit"
