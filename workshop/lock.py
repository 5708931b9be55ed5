"""`./dev lock`: pins pyproject.toml's dependencies and groups, with hashes, into requirements/*.txt.

The files hold for every supported Python and platform, and name neither an index nor a folder of this machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
BASE = "base"
APART = ("aider", "bench-", "uv")  # environments without callgate: they need not agree with our own versions


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev lock")
    parser.add_argument("uv")
    parser.add_argument("--upgrade", action="store_true")
    args = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    REQUIREMENTS.mkdir(exist_ok=True)
    together: list[str] = []
    for name in (BASE, *(group for group, wanted in project["dependency-groups"].items() if wanted)):
        apart = name.startswith(APART)
        if status := _compile(args.uv, name, agree_with=[] if apart else together, upgrade=args.upgrade):
            return status
        if not apart:
            together.append(name)
    return 0


def _compile(uv: str, name: str, *, agree_with: list[str], upgrade: bool) -> int:
    target = REQUIREMENTS / f"{name}.txt"
    source = ["pyproject.toml"] if name == BASE else ["--group", name]
    for other in agree_with:  # they may be installed side by side
        source += ["--constraints", f"requirements/{other}.txt"]
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-emit-index-url", "--no-annotate"]
    command = [uv, "pip", "compile", "--quiet", *options, "--custom-compile-command", "./dev lock", *source]
    command += ["--output-file", str(target.relative_to(ROOT)), *(["--upgrade"] if upgrade else [])]
    environ = {**os.environ, "UV_PYTHON_DOWNLOADS": os.environ.get("UV_PYTHON_DOWNLOADS", "never")}
    status = subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode
    print(f"{target.relative_to(ROOT)}: {'failed' if status else 'pinned'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
