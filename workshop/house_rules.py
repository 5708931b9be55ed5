"""The rules that no other linter knows: doors of rooms, who may import whom, size of files, nobody's business.

`./dev check` runs it over the files that git knows or would take in.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "callgate"
LONGEST_FILE = 400  # lines; a longer one holds two ideas

# Finer than the layers of pyproject.toml, and true also of rooms that are not built yet.
MAY_IMPORT_ONLY = {"gate": {"vocabulary", "tools", "doors"}}
MUST_NOT_IMPORT = {"backends": {"gate"}}

# Spelt so that this file does not match itself.
PRIVATE = {
    "a path of somebody's machine": re.compile(
        rb"(?<![\w.~$}/-])/(?:(?:home|Users)/[a-z][\w.-]*|ro[o]t|wor[k](?:space)?s?)/"
    ),
    "the address of a package index": re.compile(
        rb"pypi\.or[g]/simple|pythonhosted\.or[g]|^--(?:extra-)?index-url", re.MULTILINE
    ),
}


def main() -> int:
    files = list(known_files(ROOT))
    problems = [*doors(ROOT / "src" / PACKAGE), *sizes(ROOT, files), *privacy(ROOT, files)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def known_files(root: Path) -> Iterator[Path]:
    """What git tracks or would; in an unpacked archive without git, nothing."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=root, capture_output=True, text=True, check=False)
    for name in done.stdout.split("\0"):
        if name and (root / name).is_file():
            yield root / name


def doors(package: Path) -> Iterator[str]:
    """A room is entered through its `__init__`, and some rooms keep to a few neighbours."""
    for path in sorted(package.rglob("*.py")):
        here = path.relative_to(package).with_suffix("").parts
        room = here[0] if len(here) > 1 or (package / here[0]).is_dir() or here[0] != "__init__" else ""
        for line, target in imported(path):
            other = target[0]
            if other == room:
                continue
            where = f"{path.relative_to(package.parent.parent)}:{line}"
            if (package / other).is_dir() and leads_inside(package, target):
                yield f"{where}: enters {other}/ by the window ({'.'.join(target)}); import from {PACKAGE}.{other}"
            if other in MUST_NOT_IMPORT.get(room, ()) or other not in MAY_IMPORT_ONLY.get(room, {other}):
                yield f"{where}: {room} must not import {other}"


def imported(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every (line, name below the package) that a file imports from the package, at any depth of the code."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, *below = name.split(".")
            if first == PACKAGE and below:
                yield node.lineno, tuple(below)


def leads_inside(package: Path, target: tuple[str, ...]) -> bool:
    """Whether a name reaches past a room's `__init__`: a file of the room, unless the room offers that very name."""
    if len(target) < 2:
        return False
    inner = package / target[0] / target[1]
    is_file = inner.with_suffix(".py").is_file() or inner.is_dir()
    return is_file and (len(target) > 2 or target[1] not in offered(package / target[0] / "__init__.py"))


def offered(init: Path) -> set[str]:
    """The names in a literal `__all__`."""
    if not init.is_file():
        return set()
    for node in ast.parse(init.read_text("utf-8")).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets) and isinstance(
            value, ast.List | ast.Tuple
        ):
            return {str(item.value) for item in value.elts if isinstance(item, ast.Constant)}
    return set()


def sizes(root: Path, files: Iterable[Path]) -> Iterator[str]:
    for path in files:
        if path.suffix == ".py" or path == root / "dev":
            lines = path.read_bytes().count(b"\n")
            if lines > LONGEST_FILE:
                yield f"{path.relative_to(root)}: {lines} lines; past {LONGEST_FILE} a file holds two ideas"


def privacy(root: Path, files: Iterable[Path]) -> Iterator[str]:
    """Nothing in the repository tells where somebody works or whence their packages come."""
    for path in files:
        data = path.read_bytes()
        if b"\0" in data[:8192]:
            continue
        for what, pattern in PRIVATE.items():
            if found := pattern.search(data):
                line = data.count(b"\n", 0, found.start()) + 1
                yield f"{path.relative_to(root)}:{line}: {what} ({found.group().decode(errors='replace')})"


if __name__ == "__main__":
    sys.exit(main())
