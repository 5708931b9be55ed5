from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from callgate.detect import TemplateSandbox
from callgate.runtime import memory


@pytest.fixture(scope="package")
def sandbox() -> Iterator[TemplateSandbox]:
    """One for all, so that not each test starts a process."""
    with TemplateSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What is remembered goes by this clock, which stands still until it is told."""
    stands = SimpleNamespace(now=1000.0)
    stands.monotonic = lambda: stands.now
    monkeypatch.setattr(memory, "time", stands)
    return stands
