"""What was derived from a model's own facts, so that an unchanged model needn't be looked at again.

A cache: whoever deletes the file loses nothing but time. It keeps no guesses, and forgets the oldest when it is full.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from callgate.registry.locking import locked
from callgate.registry.whole_files import make_folder, read_whole, write_whole
from callgate.vocabulary import Answer, Evidence, Facts, Source, StorageError

FILE_NAME = "derived.json"
LAYOUT = 1
MOST_KEPT = 1000
LARGEST_ONE = 256 << 10
LARGEST_FILE = 16 << 20
SHORT_PATIENCE = 1.0
_ANSWERS = frozenset(Answer)


class Derived(msgspec.Struct, frozen=True):
    """The evidence that one version of a model gave, and the facts that are worth keeping."""

    version: str
    """What changes when the model does: its digest, or its file's size and time."""
    facts: Facts
    evidence: tuple[Evidence, ...]


class _Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of evidence as it is written: JSON has one kind of word."""

    claim: str
    answer: int | str
    source: Source
    detail: str
    at: float


class _Written(msgspec.Struct, frozen=True):
    version: str
    facts: Facts
    evidence: tuple[_Piece, ...]


class _File(msgspec.Struct, frozen=True):
    layout: int
    findings: dict[str, msgspec.Raw]
    """By model and detector, the oldest first."""


_files = msgspec.json.Decoder(_File)
_findings = msgspec.json.Decoder(_Written)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, StorageError)
_UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


class DerivedCache:
    """Never raises: what can't be read isn't there, and what can't be written isn't kept."""

    def __init__(self, path: str, detector: str) -> None:
        self.path = os.path.realpath(path)
        self._detector = detector
        """What changes when the code does that derives."""
        self._kept: Mapping[str, msgspec.Raw] | None = None
        self._new: dict[str, msgspec.Raw] = {}

    @classmethod
    def in_folder(cls, folder: str, detector: str) -> DerivedCache:
        return cls(os.path.join(folder, FILE_NAME), detector)

    def get(self, key: str) -> Derived | None:
        """What this detector derived from the model that `key` names, when it last looked."""
        if self._kept is None:
            self._kept = self._read()
        named = self._named(key)
        raw = self._new.get(named) or self._kept.get(named)
        if raw is None:
            return None
        try:
            written = _findings.decode(raw)
        except _UNREADABLE:
            return None
        return Derived(written.version, written.facts, tuple(_as_found(piece) for piece in written.evidence))

    def put(self, key: str, derived: Derived) -> None:
        """Kept in memory until `flush`."""
        with suppress(*_UNWRITABLE):
            pieces = [_Piece(*msgspec.structs.astuple(found)) for found in derived.evidence]
            raw = msgspec.json.encode(_Written(derived.version, derived.facts, tuple(pieces)))
            _findings.decode(raw)  # what can't be read again isn't worth keeping
            if len(raw) <= LARGEST_ONE and len(self._new) < MOST_KEPT:
                self._new[self._named(key)] = msgspec.Raw(raw)

    def flush(self) -> None:
        """Writes what is new, beside what others wrote meanwhile."""
        if not self._new:
            return
        new, self._new = self._new, {}  # at one go: another thread may find more meanwhile
        self._kept = {**(self._kept or {}), **new}
        with suppress(StorageError, *_UNWRITABLE):
            make_folder(self.path)
            with locked(self.path, patience=SHORT_PATIENCE):
                others = {key: raw for key, raw in self._read().items() if key not in new}
                merged = _within_bounds({**others, **new})
                write_whole(self.path, msgspec.json.encode(_File(LAYOUT, merged)), durable=False)

    def _named(self, key: str) -> str:
        return f"{self._detector} {key}"

    def _read(self) -> Mapping[str, msgspec.Raw]:
        try:
            content = read_whole(self.path, LARGEST_FILE)
            if content is None or len(content) > LARGEST_FILE:
                return {}
            file = _files.decode(content)
        except _UNREADABLE:
            return {}
        return file.findings if file.layout == LAYOUT else {}


def _as_found(piece: _Piece) -> Evidence:
    answer = Answer(piece.answer) if isinstance(piece.answer, str) and piece.answer in _ANSWERS else piece.answer
    return Evidence(piece.claim, answer, piece.source, piece.detail, piece.at)


def _within_bounds(findings: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """The newest, as many as there is room for."""
    room = LARGEST_FILE - 100
    kept: list[tuple[str, msgspec.Raw]] = []
    for key, raw in reversed(findings.items()):
        room -= 2 * len(key) + len(bytes(raw)) + 8
        if room < 0 or len(kept) >= MOST_KEPT:
            break
        kept.append((key, raw))
    return dict(reversed(kept))
