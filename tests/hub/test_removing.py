from __future__ import annotations

from pathlib import Path

import pytest

from callgate.hub import files_of, remove
from callgate.vocabulary import UsageError
from tests.hub.watching import files_in
from tests.runtime.played import settings

COMMIT = "c" * 40


def put(*files: Path) -> None:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"GGUF")


def test_a_projector_goes_with_the_last_model_of_a_pull_alone(tmp_path: Path) -> None:
    own = settings(models__dir=str(tmp_path))
    fetched, loose = tmp_path / "owner" / "name" / COMMIT, tmp_path
    put(fetched / "m.gguf", fetched / "mmproj-F16.GGUF", loose / "other.gguf", loose / "mmproj-mine.gguf")
    assert files_of(str(loose / "other.gguf"), own) == [str(loose / "other.gguf")]
    assert files_of(str(fetched / "m.gguf"), own) == [str(fetched / "m.gguf"), str(fetched / "mmproj-F16.GGUF")]
    assert files_of(str(fetched / "mmproj-F16.GGUF"), own) == [str(fetched / "mmproj-F16.GGUF")]


def test_a_link_goes_and_its_target_stays(tmp_path: Path) -> None:
    own = settings(models__dir=str(tmp_path / "own"))
    put(tmp_path / "elsewhere" / "m.gguf")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "m.gguf").symlink_to(tmp_path / "elsewhere" / "m.gguf")
    assert remove(files_of(str(tmp_path / "own" / "m.gguf"), own), own) == 0
    assert files_in(tmp_path) == ["elsewhere/m.gguf"]


def test_a_folder_that_is_a_link_leads_out(tmp_path: Path) -> None:
    own = settings(models__dir=str(tmp_path / "own"))
    put(tmp_path / "elsewhere" / "m.gguf")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="isn't in a folder of models"):
        files_of(str(tmp_path / "own" / "sub" / "m.gguf"), own)


@pytest.mark.parametrize("is_shared", [True, False])
def test_nothing_empty_stays_behind(tmp_path: Path, is_shared: bool) -> None:
    wanted = settings(**{"hub__cache" if is_shared else "models__dir": str(tmp_path)})
    repository = tmp_path / "models--o--n" if is_shared else tmp_path / "o" / "n"
    snapshot = (repository / "snapshots" if is_shared else repository) / COMMIT
    put(snapshot / "sub" / "m.gguf")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    assert remove(files_of(str(snapshot / "sub" / "m.gguf"), wanted), wanted) == 4
    assert not repository.exists()


def test_another_commit_and_its_branch_stay(tmp_path: Path) -> None:
    own = settings(models__dir=str(tmp_path))
    repository = tmp_path / "o" / "n"
    put(repository / COMMIT / "m.gguf", repository / ("d" * 40) / "m.gguf")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("d" * 40)
    remove(files_of(str(repository / COMMIT / "m.gguf"), own), own)
    assert files_in(tmp_path) == [f"o/n/{'d' * 40}/m.gguf", "o/n/refs/main"]
