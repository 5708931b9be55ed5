"""Installs a wheel and an sdist where nothing else is, and does with them what their users do first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORTED = ("3.11", "3.12", "3.13")
EVERYTHING = "[all]"
PINNED = ("base", "chat", "serve", "engine", "test")
"""Holds the trial to versions that we know; what is installed at all follows from the metadata alone."""
LONGEST_SECONDS = 300
KEPT = ("PATH", "SSL_CERT_FILE", "SYSTEMROOT", "TMPDIR")
WHERE = (
    "import callgate, sys; print(callgate.__file__); print(callgate.__version__); assert callgate.check('tiny').tools"
)


class Failed(Exception):
    """Something isn't as it should be; the message says what."""


def try_out(
    uv: str, wheel: Path, sdist: Path, versions: Sequence[str], folder: Path, say: Callable[[str], None]
) -> None:
    """The wheel and the sdist bare on each Python, and the wheel with all extras on the last. Raises: Failed."""
    pythons = {version: python for version in versions if (python := python_of(version))}
    for version in versions:
        if version not in pythons:
            say(f"not tried on Python {version}, for there is none here")
    if not pythons:
        raise Failed("none of the Pythons to try them on is here")
    last = list(pythons)[-1]
    for version, python in pythons.items():
        for what in (wheel, sdist):
            extras = EVERYTHING if what is wheel and version == last else ""
            begun = time.monotonic()
            place = folder / f"{version}-{what.suffix[1:]}"
            trial = Trial(uv, python, place)
            trial.install(f"{what}{extras}")
            trial.use(demo=bool(extras))
            did = "installed and used, with the demo" if extras else "installed and used"
            say(f"Python {version}, {what.name}{extras}: {did} ({time.monotonic() - begun:.0f} s)")


def python_of(version: str) -> str | None:
    done = subprocess.run(
        [sys.executable, ROOT / "dev", "python", version], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None


class Trial:
    """One empty environment, with a home of its own, outside the checkout."""

    def __init__(self, uv: str, python: str, folder: Path) -> None:
        self._uv = uv
        self._folder = folder
        self._bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        (folder / "home").mkdir(parents=True)
        self._environ = {name: value for name, value in os.environ.items() if name in KEPT}
        self._environ |= {"HOME": str(folder / "home"), "PYTHONWARNINGS": "error"}
        self._run([uv, "venv", "--quiet", "--no-project", "--python", python, str(folder / "env")], os.environ)

    def install(self, what: str) -> None:
        pins = [word for name in PINNED for word in ("--constraints", str(ROOT / "requirements" / f"{name}.txt"))]
        into = ["--python", str(self._bin / "python")]
        self._run([self._uv, "pip", "install", "--quiet", *into, *pins, what], os.environ)

    def use(self, *, demo: bool) -> None:
        """Raises: Failed, if anything isn't as a user expects it."""
        where, version = self._said("python", "-I", "-c", WHERE).split()
        if not Path(where).is_relative_to(self._folder):
            raise Failed(f"callgate was imported from {where}, which isn't what was installed")
        if (told := self._said("callgate", "--version").strip()) != f"callgate {version}":
            raise Failed(f"callgate --version says {told!r}, and callgate.__version__ {version!r}")
        checked = json.loads(self._said("callgate", "check", "--json", "--require", "tools", "tiny"))
        if checked["tools"] != "yes":
            raise Failed(f"callgate check tiny says {checked['tools']!r}")
        if demo:
            steps = [json.loads(line) for line in self._said("callgate", "demo", "--no-input", "--json").splitlines()]
            if not any(step.get("calls") for step in steps):
                raise Failed("the demo made no calls")

    def _said(self, program: str, *words: str) -> str:
        return self._run([str(self._bin / program), *words], self._environ)

    def _run(self, command: list[str], environ: Mapping[str, str]) -> str:
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=dict(environ),
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_SECONDS,
        )
        if done.returncode:
            shown = " ".join(Path(word).name if os.sep in word else word for word in command[:4])
            raise Failed(f"{shown} … ended with status {done.returncode}:\n{(done.stderr or done.stdout).strip()}")
        return done.stdout
