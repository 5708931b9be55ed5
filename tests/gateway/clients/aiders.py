"""The real aider, in its environment: `./dev env aider` makes it. Standard library only."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
PYTHONS = ("3.12", "3.11")
"""It takes none that is newer."""
MAKE_TIMEOUT_S = 420
EDIT_TIMEOUT_S = 150
QUIET = (
    "--no-analytics",
    "--no-check-update",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--no-pretty",
    "--no-fancy-input",
    "--no-gitignore",
    "--no-detect-urls",
)

# As it was before any test changed it: uv needs the real home, caches and proxies.
_environ = dict(os.environ)


class NotMade(Exception):
    """Its environment isn't there."""


@functools.cache
def installed(*, may_make: bool) -> Path:
    """The command. What it needs is half a gigabyte, so it is made but where that is wanted."""
    made = [ROOT / ".dev" / "envs" / f"aider-{version}" / "bin" / "aider" for version in PYTHONS]
    if not may_make:
        for aider in made:
            if aider.is_file():
                return aider
        raise NotMade("./dev env aider --python 3.12 makes its environment")
    said = ""
    for version, aider in zip(PYTHONS, made, strict=True):
        done = subprocess.run(
            [ROOT / "dev", "env", "aider", "--python", version],
            env=_environ,
            capture_output=True,
            text=True,
            timeout=MAKE_TIMEOUT_S,
            check=False,
        )
        if done.returncode == 0 and aider.is_file():
            return aider
        said += done.stderr
    raise NotMade(said.strip()[-500:])


def edit(aider: Path, url: str, model: str, folder: Path, file: str, *, told: str) -> subprocess.CompletedProcess[str]:
    """One turn in a folder, by its published settings. Nothing but this machine is in its reach."""
    name = f"openai/{model}"
    settings, facts = folder / ".aider.model.settings.yml", folder / ".aider.model.metadata.json"
    # JSON is YAML. A small model repeats the reminder of the format rather than what it is told.
    about = {"name": name, "edit_format": "whole", "weak_model_name": name, "use_repo_map": False, "reminder": None}
    settings.write_text(json.dumps([{**about, "extra_params": {"max_tokens": 120}}]), "utf-8")
    facts.write_text(json.dumps({name: {"max_input_tokens": 4096, "max_tokens": 4096}}), "utf-8")
    nowhere = "http://127.0.0.1:9"
    return subprocess.run(
        [aider, *QUIET, "--yes-always", "--no-auto-commits", "--model", name, "--message", told, file],
        cwd=folder,
        env={
            **os.environ,
            "HOME": str(folder),
            "OPENAI_API_BASE": f"{url}/v1",
            "OPENAI_API_KEY": "none",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "HTTPS_PROXY": nowhere,
            "HTTP_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=EDIT_TIMEOUT_S,
        check=False,
    )
