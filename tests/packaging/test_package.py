"""What is released holds what it should and nothing else; `./dev package` also installs it on every Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

import callgate
from workshop import house_rules, package, package_contents

ROOT = Path(__file__).parent.parent.parent
SAID = (
    "Metadata-Version: 2.4\nName: callgate\nVersion: {version}\nSummary: s\nLicense-Expression: Apache-2.0\n"
    "License-File: LICENSE\nRequires-Python: >=3.11\nDescription-Content-Type: text/markdown\n{extras}\n# callgate\n"
)


class Built(NamedTuple):
    root: Path
    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Of a copy, so that somebody may go on working."""
    root = tmp_path_factory.mktemp("root")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    for path in house_rules.known_files(ROOT):
        copy = root / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("SOURCE_DATE_EPOCH", "1700000000")
        yield Built(root, *package.build(root, tmp_path_factory.mktemp("dist")))


def test_the_wheel_and_the_sdist_hold_what_they_should(built: Built) -> None:
    assert not list(package_contents.problems_of(built.wheel, built.sdist, built.root))


def test_the_sdist_builds_the_same_wheel(built: Built, tmp_path: Path) -> None:
    assert not package.not_the_same(built.wheel, built.sdist, tmp_path)


def test_the_sdist_is_the_same_when_it_is_built_again(built: Built, tmp_path: Path) -> None:
    (again,) = package.build(built.root, tmp_path, ["sdist"])
    assert package.digest(again) == package.digest(built.sdist)


def test_the_version_is_written_in_one_place_and_said_everywhere() -> None:
    assert version("callgate") == callgate.__version__
    assert package_contents.version_of((ROOT / "src/callgate/__init__.py").read_text("utf-8")) == callgate.__version__
    said = subprocess.run([sys.executable, "-m", "callgate", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"callgate {callgate.__version__}\n"
    assert (
        "version" not in (ROOT / "pyproject.toml").read_text("utf-8").partition("[project]")[2].partition("dynamic")[0]
    )


@pytest.fixture
def sound(tmp_path: Path) -> dict[str, bytes]:
    """A package of a few files that is as it should be."""
    root = tmp_path / "root"
    files = dict.fromkeys(package_contents.NEEDED, b"x")
    files["callgate/__init__.py"] = b'__version__ = "1.2.3"\n'
    for name, content in files.items():
        (root / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "src" / name).write_bytes(content)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    extras = "".join(f"Provides-Extra: {extra}\n" for extra in sorted(package_contents.EXTRAS))
    return {**files, "callgate-1.2.3.dist-info/METADATA": SAID.format(version="1.2.3", extras=extras).encode()}


def problems_of(tmp_path: Path, files: dict[str, bytes]) -> list[str]:
    wheel, sdist = tmp_path / "callgate.whl", tmp_path / "callgate.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    source = tmp_path / "source"
    for name, content in files.items():
        path = source / ("PKG-INFO" if name.endswith("METADATA") else f"src/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with tarfile.open(sdist, "w:gz") as tar:
        tar.add(source, "callgate-1.2.3")
    return list(package_contents.problems_of(wheel, sdist, tmp_path / "root"))


def test_a_sound_package_has_no_problems(tmp_path: Path, sound: dict[str, bytes]) -> None:
    assert not problems_of(tmp_path, sound)


@pytest.mark.parametrize("name", package_contents.NEEDED[1:])
def test_a_file_that_is_missing_is_found(tmp_path: Path, sound: dict[str, bytes], name: str) -> None:
    del sound[name]
    assert problems_of(tmp_path, sound) == [
        f"callgate.whl: {name} is missing",
        f"callgate.tar.gz: {name} is missing",
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tests/test_x.py", "has no business there"),
        ("corpus/template.jinja", "has no business there"),
        ("callgate/stray.py", "isn't in the repository"),
        ("callgate/__pycache__/x.pyc", "is a leftover"),
    ],
)
def test_a_file_too_many_is_found(tmp_path: Path, sound: dict[str, bytes], name: str, words: str) -> None:
    sound[name] = b""
    assert f"callgate.whl: {name} {words}" in problems_of(tmp_path, sound)


def test_somebodys_path_is_found(tmp_path: Path, sound: dict[str, bytes]) -> None:
    sound["callgate/py.typed"] = b"see /" + b"home/alice/notes"
    assert any("a path of somebody's machine" in problem for problem in problems_of(tmp_path, sound))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"Version: 1.2.3", b"Version: 1.2.4", "is version 1.2.4, not 1.2.3"),
        (b"Version: 1.2.3", b"Version: newest", "newest"),
        (b"Summary: s\n", b"", "lacks a summary"),
        (b"Provides-Extra: serve\n", b"", "lacks the extras serve"),
        (b"# callgate", b"", "README"),
    ],
)
def test_metadata_that_says_something_else_is_found(
    tmp_path: Path, sound: dict[str, bytes], before: bytes, after: bytes, words: str
) -> None:
    sound["callgate-1.2.3.dist-info/METADATA"] = sound["callgate-1.2.3.dist-info/METADATA"].replace(before, after)
    assert any(words in problem for problem in problems_of(tmp_path, sound))
