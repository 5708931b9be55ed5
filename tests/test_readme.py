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
NEEDS_OTHERS = ("qwen3", "hf:", "model.gguf", "ask ", "chat", "doctor", "pull ", "serve")


TOOLS = """[{"name": "multiply", "description": "Multiply two numbers.", "inputSchema": {"type": "object",
"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}]"""


def run(command: str, folder: Path) -> str:
    """In a folder with the files that the README speaks of."""
    (folder / "tools.json").write_text(TOOLS)
    first, *_ = command.split(" | ")
    words = [sys.executable, "-m", *shlex.split(first)]
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder).stdout


@pytest.mark.parametrize(("command", "shown"), [pytest.param(*each, id=each[0]) for each in COMMANDS])
def test_each_command_shows_what_the_readme_shows(command: str, shown: str, tmp_path: Path) -> None:
    if any(word in command for word in NEEDS_OTHERS):
        pytest.skip("it needs a server, a file or the hub")
    said = [line.rstrip() for line in run(command, tmp_path).splitlines()]
    for line in (line.removeprefix("    ").rstrip() for line in shown.splitlines()):
        if line != "..." and "found 20" not in line:
            assert line in said


def test_most_of_the_commands_were_really_run() -> None:
    assert sum(not any(word in command for word in NEEDS_OTHERS) for command, _ in COMMANDS) >= 3


@pytest.mark.parametrize("snippet", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_each_piece_of_python_runs(snippet: str) -> None:
    script = snippet if "import callgate" in snippet else f"import callgate\n{snippet}"
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, capture_output=True)


SETTINGS = re.search(r"^## Settings\n(.*?)^## ", README, re.DOTALL | re.MULTILINE)
ROWS = re.findall(r"^\| `([a-z]+\.\w+)` \| (.*?) \| (.*?) \|$", SETTINGS.group(1) if SETTINGS else "", re.MULTILINE)


def test_the_settings_in_the_readme_are_the_settings_there_are() -> None:
    from callgate.settings import TABLE

    assert [key for key, _, _ in ROWS] == list(TABLE)
    sections = "|".join({key.partition(".")[0] for key in TABLE})
    assert set(re.findall(rf"`((?:{sections})\.[a-z_]+)`", README)) - {"tools.py", "tools.json"} <= set(TABLE)


@pytest.mark.parametrize(("key", "default", "words"), ROWS)
def test_each_has_its_default_in_the_readme_and_the_variables_that_set_it_too(
    key: str, default: str, words: str
) -> None:
    from callgate.settings import TABLE

    setting = TABLE[key]
    if isinstance(setting.default, bool):
        assert default == str(setting.default).lower()
    elif isinstance(setting.default, int | float):
        assert float(default) == setting.default
    elif setting.default is not None:
        assert default in (f"`{setting.default}`", "all of them")
    for variable in setting.env[1:]:
        assert f"`{variable}`" in words
