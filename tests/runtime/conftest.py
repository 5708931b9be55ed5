from __future__ import annotations

from types import SimpleNamespace

import pytest

from callgate.runtime import memory


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What is remembered goes by this clock, which stands still until it is told."""
    stands = SimpleNamespace(now=1000.0)
    stands.monotonic = lambda: stands.now
    monkeypatch.setattr(memory, "time", stands)
    return stands
