"""Which model is meant where none is named: what `auto` stands for, everywhere."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import msgspec

from callgate.detect import Finding
from callgate.registry import locked, make_folder, read_whole, write_whole
from callgate.runtime.found import TINY, FoundModel
from callgate.settings import Settings
from callgate.vocabulary import Answer, CallgateError, ModelRef, StorageError

WELL_KNOWN = ModelRef("ollama", "llama3.2:latest")
FILE_NAME = "last_model"
LONGEST_NAME = 4096
PATIENCE_SECONDS = 0.2

FindEach = Callable[[Sequence[ModelRef]], Awaitable[Sequence[Finding | None]]]


class Choice(msgspec.Struct, frozen=True):
    ref: ModelRef
    why: str
    """In a few words that can stand behind its name."""


async def choose(settings: Settings, found: Sequence[FoundModel], find_each: FindEach) -> Choice:
    """The one that the settings name; the last one that was used, if it is there; llama3.2, if the Ollama has it; the
    first of all `found` that is sure to have tools, servers before files, which are opened only until one will do; the
    one in the box.
    """
    if settings.models.default not in (None, "auto"):
        return Choice(ModelRef.parse(settings.models.default), "your settings name it")
    refs = [model.ref for model in found]
    last = last_model(settings)
    if last is not None and await _is_there(last, refs, find_each):
        return Choice(last, "the last one you used")
    if WELL_KNOWN in refs:
        return Choice(WELL_KNOWN, "your Ollama has it")
    files = [ref for ref in refs if ref.scheme == "file"]
    others = [ref for ref in refs if ref.scheme != "file" and ref != TINY]
    for some in (others, *([file] for file in files)):
        for ref, finding in zip(some, await find_each(some), strict=True):
            known = finding.capabilities if finding else None
            if known and known.tools is Answer.YES and not (known.guess or known.is_embedding):
                return Choice(ref, "the first in reach that has tools")
    return Choice(TINY, "the model in the box, for no other in reach is sure to have tools")


async def _is_there(ref: ModelRef, refs: Sequence[ModelRef], find_each: FindEach) -> bool:
    if ref in refs or ref.is_in_the_box:
        return True
    if ref.scheme == "ollama" and ref.endpoint is None:
        return ModelRef("ollama", f"{ref.name}:latest") in refs
    if ref.scheme == "file":
        return _is_file(ref.name)
    finding = (await find_each([ref]))[0]
    return finding is not None and finding.failure is None


def _is_file(path: str) -> bool:
    return os.path.isfile(path)


def last_model(settings: Settings) -> ModelRef | None:
    """The last one that somebody talked to."""
    with suppress(CallgateError, UnicodeDecodeError):
        content = read_whole(os.path.join(settings.data_folder, FILE_NAME), LONGEST_NAME)
        if content and len(content) <= LONGEST_NAME:
            ref = ModelRef.parse(content.decode().strip())
            return None if ref.scheme in ("auto", "scripted") else ref
    return None


def keep_last_model(settings: Settings, ref: ModelRef) -> None:
    """What can't be kept is no reason to complain."""
    if ref.scheme in ("auto", "scripted") or "@" in (ref.endpoint or ""):  # a password isn't kept
        return
    name = ModelRef("file", os.path.abspath(ref.name)) if ref.scheme == "file" else ref
    path = os.path.join(settings.data_folder, FILE_NAME)
    with suppress(StorageError):
        make_folder(path)
        with locked(path, patience=PATIENCE_SECONDS):
            write_whole(path, f"{name}\n".encode("utf-8", "replace"), durable=False)
