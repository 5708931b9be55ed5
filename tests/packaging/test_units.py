"""The units for systemd are sound, give the service little, and give it time to end."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from callgate.gateway import Options
from callgate.gateway.serving.workers import LAST_SECONDS

PACKAGING = Path(__file__).parent.parent.parent / "packaging"
UNITS = ("callgate.service", "callgate-user.service")
MOST_EXPOSED = 1.5
"""Of 10. What is left is the network, which is its purpose, and how much memory there is."""


@pytest.fixture
def analyze(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd here: systemd-analyze isn't on PATH")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return program


def values(unit: str, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", (PACKAGING / unit).read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_finds_nothing_wrong_with_it(analyze: str, unit: str, tmp_path: Path) -> None:
    text = (PACKAGING / unit).read_text("utf-8")
    installed = tmp_path / unit
    installed.write_text(re.sub(r"^(ExecStart=)\S+", r"\1/bin/true", text, flags=re.MULTILINE), "utf-8")
    whose = ["--user"] if "user" in unit else []
    done = subprocess.run([analyze, *whose, "verify", str(installed)], capture_output=True, text=True, check=False)
    # Units of others may have their own trouble.
    assert not [line for line in (done.stdout + done.stderr).splitlines() if "callgate" in line]
    assert done.returncode == 0


def test_the_service_of_the_system_is_hardly_exposed(analyze: str) -> None:
    command = [analyze, "security", "--offline=true", "--no-pager", str(PACKAGING / "callgate.service")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd is too old to look at a unit that isn't installed")
    exposed = re.search(r"exposure level for callgate.service: ([\d.]+)", done.stdout)
    assert exposed, done.stderr
    assert float(exposed[1]) <= MOST_EXPOSED


@pytest.mark.parametrize("unit", UNITS)
def test_it_has_longer_to_end_than_answers_have(unit: str) -> None:
    (command,) = values(unit, "ExecStart")
    drain = float(command.partition("--drain ")[2])
    assert drain == Options().drain
    (stop,) = values(unit, "TimeoutStopSec")
    assert float(stop) > drain + LAST_SECONDS
    assert values(unit, "KillMode") == ["mixed"]  # or engines would end before the answers that they give


@pytest.mark.parametrize("unit", UNITS)
def test_it_is_ready_when_it_says_so(unit: str) -> None:
    assert values(unit, "Type") == ["notify"]
