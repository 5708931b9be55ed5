"""Shells complete the command line by the scripts that it prints."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from callgate.cli import COMMANDS, parser_of
from callgate.cli.command_tree import command_tree
from callgate.cli.completion import SHELLS
from callgate.cli.completion_scripts import script_for
from tests.cli.command import CALLGATE, callgate, environ

QUESTIONS = [
    ("callgate ch", {"check", "chat"}),
    ("callgate check --w", {"--why"}),
    ("callgate ask --strategy ", {"auto", "native", "emulate", "off"}),
    ("callgate models set tiny --tools ", {"yes", "no", "auto"}),
    ("callgate models sh", {"show"}),
    ("callgate config set tools.max_", {"tools.max_turns", "tools.max_repeats"}),
    ("callgate config set tools.strategy ", {"auto", "native", "emulate", "off"}),
    ("callgate config set models.require_tools ", {"true", "false"}),
    ("callgate config get tools.strat", {"tools.strategy"}),
    ("callgate check tin", {"tiny", "tiny-plain"}),
    ("callgate ask --verbose tiny-", {"tiny-plain"}),
    ("callgate repair --schema sch", {"schema.json"}),
    ("callgate completion ", {"bash", "zsh", "fish"}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a `callgate` on the path, the scripts, and a file to complete."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "callgate").write_text(f'#!/bin/sh\nexec {" ".join(CALLGATE)} "$@"\n')
    (folder / "callgate").chmod(0o755)
    (folder / "schema.json").write_text("{}")
    tree = command_tree(parser_of(*COMMANDS))
    for shell in SHELLS:
        (folder / f"script.{shell}").write_text(script_for(shell, tree))
    return folder


def run(folder: Path, *words: str) -> str:
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        words, cwd=folder, env=environ(PATH=path), capture_output=True, text=True, timeout=60, check=True
    ).stdout


@pytest.mark.parametrize(("typed", "offered"), QUESTIONS)
def test_bash_completes(folder: Path, typed: str, offered: set[str]) -> None:
    program = (
        f"source script.bash; compopt() {{ :; }}; COMP_LINE='{typed}'; COMP_POINT={len(typed)}; _callgate;"
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    assert set(run(folder, "bash", "-c", program).split()) == offered


@pytest.mark.parametrize(("typed", "offered"), QUESTIONS)
def test_fish_completes(folder: Path, typed: str, offered: set[str]) -> None:
    if not shutil.which("fish"):
        pytest.skip("no fish here")
    said = run(folder, "fish", "--no-config", "-c", f"source script.fish; complete -C '{typed}'")
    assert {line.split("\t")[0] for line in said.splitlines()} == offered


@pytest.mark.parametrize(
    ("typed", "seen"),
    [("callgate comp", "callgate completion "), ("callgate config get storage.", "callgate config get storage.home ")],
)
def test_zsh_completes(folder: Path, typed: str, seen: str) -> None:
    """In a terminal, for it completes nowhere else."""
    if not shutil.which("zsh"):
        pytest.skip("no zsh here")
    ours, its = pty.openpty()
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        ["zsh", "-f", "-i"],
        cwd=folder,
        env=environ(PATH=path, TERM="dumb"),
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    try:
        os.write(ours, b"autoload -Uz compinit; compinit -D -u; source script.zsh; echo rea''dy\n")
        _read_until(ours, "ready")
        os.write(ours, f"{typed}\t".encode())
        _read_until(ours, seen)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read_until(terminal: int, wanted: str) -> None:
    said, until = "", time.monotonic() + 60
    while wanted not in said:
        assert time.monotonic() < until, f"{wanted!r} isn't in {said!r}"
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096).decode(errors="replace")
            said = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]|[\r\x07]", "", said)


def test_the_command_prints_the_script(folder: Path) -> None:
    done = callgate("completion", "bash")
    assert (done.status, done.out) == (0, (folder / "script.bash").read_text())


def test_an_unknown_shell_is_wrong_usage() -> None:
    done = callgate("completion", "tcsh")
    assert done.status == 2
    assert "bash" in done.err


def test_the_scripts_are_fit_for_their_shells(folder: Path) -> None:
    for shell in filter(shutil.which, SHELLS):
        run(folder, shell, "-n", f"script.{shell}")
