from __future__ import annotations

import pytest

from callgate.registry import SessionNotes, notes
from callgate.vocabulary import ModelRef

QWEN = ModelRef.parse("qwen3:8b")


def test_a_note_holds_until_there_is_a_newer_one() -> None:
    session = SessionNotes()
    assert session.get(QWEN) is None
    first = session.put(QWEN, supported=True, source="it called one")
    assert session.get(ModelRef.parse("ollama:qwen3:8b")) == first
    assert (first.supported, first.source) == (True, "it called one")
    second = session.put(QWEN, supported=False, source="you said so")
    assert session.get(QWEN) == second
    session.forget(QWEN)
    session.forget(QWEN)
    assert session.get(QWEN) is None
    assert SessionNotes().get(QWEN) is None


def test_there_is_an_end_to_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "MOST_NOTES", 3)
    session = SessionNotes()
    refs = [ModelRef("ollama", f"m:{number}") for number in range(5)]
    for ref in refs:
        session.put(ref, supported=True, source="so")
    assert [session.get(ref) is not None for ref in refs] == [False, False, True, True, True]
