"""What the chat's tests share: tools in a Python file, and servers that nobody else is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from callgate.chat import judging
from callgate.settings import Settings, load_settings
from tests.runtime.played import NOBODY

TOOLS = '''
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b
'''


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no reason for a guess."""
    monkeypatch.setattr(judging, "PATIENCE_SECONDS", 60.0)


@pytest.fixture
def tool_file(tmp_path: Path) -> str:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return str(path)


@pytest.fixture
def quiet() -> Settings:
    """Nobody is looked for."""
    return load_settings({"ollama.host": NOBODY, "detect.refresh": "off"})
