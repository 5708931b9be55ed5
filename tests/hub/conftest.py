from __future__ import annotations

import pytest

from callgate.hub import pulling, retrying


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are there, but short."""
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.002)
    monkeypatch.setattr(pulling, "SUMMARY_SECONDS", 5.0)  # but nobody is in a hurry to see what a hint says


@pytest.fixture
def tiny(tiny_gguf: object) -> bytes:
    from pathlib import Path

    assert isinstance(tiny_gguf, Path)
    return tiny_gguf.read_bytes()
