from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from callgate.registry.whole_files import make_folder, read_whole, write_whole
from callgate.vocabulary import StorageError

DIES = """
import os, signal, sys
from callgate.registry import whole_files

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(sys.modules[sys.argv[2]] if sys.argv[2] in sys.modules else __import__(sys.argv[2]), sys.argv[3], die)
whole_files.write_whole(sys.argv[1], b"new" * 100_000)
"""


def test_what_is_written_is_there_and_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("old")
    path.chmod(0o644)
    write_whole(str(path), b"new")
    assert read_whole(str(path), 100) == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize(("module", "name"), [("os", "fsync"), ("os", "replace"), ("os", "unlink")])
def test_whoever_dies_in_the_middle_leaves_the_old_one_whole(tmp_path: Path, module: str, name: str) -> None:
    path = tmp_path / "kept"
    write_whole(str(path), b"old")
    (tmp_path / "kept.new").write_bytes(b"half of an earlier o")
    died = subprocess.run([sys.executable, "-c", DIES, str(path), module, name], check=False)
    assert died.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    write_whole(str(path), b"newer")
    assert path.read_bytes() == b"newer"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_trap_in_the_place_of_the_new_file_isnt_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "kept.new").symlink_to(other)
    write_whole(str(tmp_path / "kept"), b"new")
    assert other.read_text() == "mine"


def test_a_disk_that_is_full_is_an_error_that_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept"
    write_whole(str(path), b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        write_whole(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_folders_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    make_folder(str(tmp_path / "one" / "two" / "kept"))
    for folder in (tmp_path / "one", tmp_path / "one" / "two"):
        assert folder.stat().st_mode & 0o777 == 0o700
    make_folder(str(tmp_path / "one" / "two" / "kept"))


def test_a_folder_that_cant_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="can't be written"):
        make_folder(str(tmp_path / "file" / "below" / "kept"))


def test_what_isnt_there_is_nothing_and_what_cant_be_read_an_error(tmp_path: Path) -> None:
    assert read_whole(str(tmp_path / "none"), 10) is None
    with pytest.raises(StorageError, match="can't be read"):
        read_whole(str(tmp_path), 10)
