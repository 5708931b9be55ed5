"""What the README shows is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    \$ (callgate .*)\n((?:    .*\n)*)", README, re.MULTILINE)
NEEDS_OTHERS = ("qwen3", "hf:", "model.gguf", "ask ", "pull ")


def run(command: str) -> str:
    first, *_ = command.split(" | ")
    words = [sys.executable, "-m", *shlex.split(first)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("command", "shown"), [pytest.param(*each, id=each[0]) for each in COMMANDS])
def test_each_command_shows_what_the_readme_shows(command: str, shown: str) -> None:
    if any(word in command for word in NEEDS_OTHERS):
        pytest.skip("it needs a server, a file or the hub")
    said = [line.rstrip() for line in run(command).splitlines()]
    for line in (line.removeprefix("    ").rstrip() for line in shown.splitlines()):
        if line != "..." and "found 20" not in line:
            assert line in said


def test_most_of_the_commands_were_really_run() -> None:
    assert sum(not any(word in command for word in NEEDS_OTHERS) for command, _ in COMMANDS) >= 3


@pytest.mark.parametrize("snippet", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_each_piece_of_python_runs(snippet: str) -> None:
    script = snippet if "import callgate" in snippet else f"import callgate\n{snippet}"
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, capture_output=True)


def test_the_settings_in_the_readme_are_the_settings_there_are() -> None:
    from callgate.settings import TABLE

    named = set(re.findall(r"`((?:detect|ollama|hub|timeouts|models|llamacpp)\.\w+)`", README))
    assert named <= set(TABLE)
    assert len(named) >= 6
