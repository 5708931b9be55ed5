"""Whether what is checked out may be released: its version, changelog and tag agree, and all of it is committed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from workshop.package_contents import version_of


def unready_of(root: Path) -> Iterator[str]:
    """What speaks against it."""
    version = version_of((root / "src" / "callgate" / "__init__.py").read_text("utf-8"))
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", _changelog(root), re.MULTILINE):
        yield f"CHANGELOG.md has no `## [{version}] - YYYY-MM-DD`"
    if f"v{version}" not in _git(root, "tag", "--points-at", "HEAD").split():
        yield f"the tag v{version} isn't at this commit"
    if changed := _git(root, "status", "--porcelain").splitlines():
        yield f"{len(changed)} files aren't committed, such as {changed[0][3:]}"


def _changelog(root: Path) -> str:
    return (root / "CHANGELOG.md").read_text("utf-8")


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False).stdout
