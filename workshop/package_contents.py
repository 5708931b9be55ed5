"""What must be in a wheel and an sdist, what must not, and what they say of themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.metadata import Metadata

from workshop.house_rules import PRIVATE

NEEDED = (
    "callgate/__init__.py",
    "callgate/py.typed",
    "callgate/data/tiny.gguf",
    "callgate/data/tiny-plain.jinja",
    "callgate/detect/names.json",
    "callgate/gateway/page/index.html",
    "callgate/validate/report.css",
)
BESIDE = {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
"""What an sdist has besides the package: what a wheel is made of, and what the builder adds."""
LARGEST_WHEEL = 20_000_000
EXTRAS = {"all", "chat", "hub", "llamacpp", "mcp", "otel", "redis", "serve"}


def problems_of(wheel: Path, sdist: Path, root: Path) -> Iterator[str]:
    version = version_of((root / "src" / "callgate" / "__init__.py").read_text("utf-8"))
    inside = {f"{wheel.name}": in_wheel(wheel), f"{sdist.name}": in_sdist(sdist)}
    ours = package_files(root)
    for name, files in inside.items():
        packed = {path.removeprefix("src/") for path in files if path.removeprefix("src/").startswith("callgate/")}
        yield from (f"{name}: {path} is missing" for path in sorted({*NEEDED, *ours} - packed))
        yield from (f"{name}: {path} isn't in the repository" for path in sorted(packed - ours) if ours)
        yield from strangers(name, files)
        yield from private(name, files)
        yield from lies(name, files, version)
    if wheel.stat().st_size > LARGEST_WHEEL:
        yield f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB is more than anybody expects"


def in_wheel(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def in_sdist(path: Path) -> dict[str, bytes]:
    """By their names below the one folder that is in it."""
    with tarfile.open(path) as archive:
        members = [(member, archive.extractfile(member)) for member in archive if member.isfile()]
        return {member.name.partition("/")[2]: file.read() for member, file in members if file}


def package_files(root: Path) -> set[str]:
    """What git knows or would take in; nothing where there is no git."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "src/callgate"]
    done = subprocess.run(listing, cwd=root, capture_output=True, text=True, check=False)
    names = {name for name in done.stdout.split("\0") if name and (root / name).is_file()}
    return {name.removeprefix("src/") for name in names}


def strangers(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    for path in sorted(files):
        first = path.removeprefix("src/").partition("/")[0]
        if not (first == "callgate" or first.endswith(".dist-info") or path in BESIDE):
            yield f"{name}: {path} has no business there"
        elif "__pycache__" in path or path.endswith(".pyc"):
            yield f"{name}: {path} is a leftover"


def private(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    for path, data in sorted(files.items()):
        if b"\0" not in data[:8192]:
            yield from (f"{name}: {path} has {what} in it" for what, pattern in PRIVATE.items() if pattern.search(data))


def lies(name: str, files: Mapping[str, bytes], version: str) -> Iterator[str]:
    """What its metadata says that isn't so, or doesn't say at all."""
    (said,) = (data for path, data in files.items() if re.fullmatch(r"PKG-INFO|[^/]+\.dist-info/METADATA", path))
    try:
        metadata = Metadata.from_email(said, validate=True)
    except ExceptionGroup as group:
        yield from (f"{name}: {error}" for error in group.exceptions)
        return
    if str(metadata.version) != version:
        yield f"{name}: is version {metadata.version}, not {version}"
    if missing := EXTRAS - set(metadata.provides_extra or ()):
        yield f"{name}: lacks the extras {', '.join(sorted(missing))}"
    if not (metadata.summary and metadata.license_expression and metadata.license_files and metadata.requires_python):
        yield f"{name}: its metadata lacks a summary, a licence or the Python that it needs"
    if metadata.description_content_type != "text/markdown" or not (metadata.description or "").startswith("# "):
        yield f"{name}: its README isn't there"


def version_of(text: str) -> str:
    """The one place where it is written."""
    (found,) = (
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["__version__"]
    )
    return str(ast.literal_eval(found))
