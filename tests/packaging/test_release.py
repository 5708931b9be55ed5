from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from workshop.release import unready_of

GIT = ("git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src" / "callgate").mkdir(parents=True)
    (tmp_path / "src" / "callgate" / "__init__.py").write_text('__version__ = "1.2.3"\n', "utf-8")
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- It works.\n", "utf-8")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Release"], ["tag", "v1.2.3"]):
        subprocess.run([*GIT, *words], cwd=tmp_path, check=True)
    return tmp_path


def test_what_agrees_may_be_released(checkout: Path) -> None:
    assert not list(unready_of(checkout))


def test_a_version_without_a_tag_may_not(checkout: Path) -> None:
    subprocess.run([*GIT, "tag", "--delete", "v1.2.3"], cwd=checkout, check=True)
    assert list(unready_of(checkout)) == ["the tag v1.2.3 isn't at this commit"]


def test_a_version_of_which_the_changelog_says_nothing_may_not(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("## [Unreleased]\n", "utf-8")
    told, uncommitted = unready_of(checkout)
    assert "`## [1.2.3] - YYYY-MM-DD`" in told
    assert "CHANGELOG.md" in uncommitted


def test_what_is_not_committed_may_not(checkout: Path) -> None:
    (checkout / "stray.py").write_text("", "utf-8")
    assert list(unready_of(checkout)) == ["1 files aren't committed, such as stray.py"]
