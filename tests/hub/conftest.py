from __future__ import annotations

import pytest

from callgate.hub import retrying


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are there, but short."""
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.002)


@pytest.fixture
def tiny(tiny_gguf: object) -> bytes:
    from pathlib import Path

    assert isinstance(tiny_gguf, Path)
    return tiny_gguf.read_bytes()
