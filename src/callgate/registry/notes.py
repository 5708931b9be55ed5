"""What holds for this session only: kept in memory, and gone with it."""

from __future__ import annotations

import time
from typing import NamedTuple

from callgate.registry.keys import key_of
from callgate.vocabulary import ModelRef

MOST_NOTES = 1000


class Note(NamedTuple):
    """Whether a model has tools, as far as this session is concerned."""

    supported: bool
    source: str
    """Who says so, in a word or a sentence."""
    timestamp: float


class SessionNotes:
    def __init__(self) -> None:
        self._notes: dict[str, Note] = {}

    def put(self, ref: ModelRef, *, supported: bool, source: str) -> Note:
        """The newest counts."""
        key = key_of(ref)
        self._notes.pop(key, None)
        while len(self._notes) >= MOST_NOTES:
            del self._notes[next(iter(self._notes))]
        note = self._notes[key] = Note(supported, source, time.time())
        return note

    def get(self, ref: ModelRef) -> Note | None:
        return self._notes.get(key_of(ref)) if self._notes else None

    def forget(self, ref: ModelRef) -> None:
        self._notes.pop(key_of(ref), None)
