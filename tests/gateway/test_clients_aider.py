"""aider, unchanged, edits a file with a model of 135 million parameters."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.backends import smollm2
from tests.conftest import missing
from tests.gateway.clients import aiders
from tests.gateway.command import served

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

BEFORE = 'def greet():\n    return "hello"\n'
AFTER = 'def greet():\n    return "goodbye"\n'
TOLD = f"Say exactly:\n\ngreet.py\n```\n{AFTER}```"
"""As much as such a model can: it says again what it hears, in the form that aider takes for an edit."""


def test_aider_edits_a_file(require_engine: None, tmp_path: Path) -> None:
    try:
        model = smollm2.fetched()
        aider = aiders.installed(may_make=os.environ.get("CALLGATE_CI") == "1")
    except smollm2.NotFetched as why:
        missing(f"no SmolLM2: {why}")
    except aiders.NotMade as why:
        missing(f"no aider: {why}")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    file = tmp_path / "greet.py"
    file.write_text(BEFORE, "utf-8")
    with served("--alias", f"smollm2={model}", CALLGATE_LLAMACPP_CONTEXT="4096") as gate:
        done = aiders.edit(aider, gate.url, "smollm2", tmp_path, file.name, told=TOLD)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Applied edit to greet.py" in done.stdout, done.stdout[-3000:]
    assert file.read_text("utf-8") == AFTER
