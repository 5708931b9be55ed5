from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest

from callgate.hub.waiting import alone


@pytest.mark.skipif(sys.platform != "linux", reason="it asks /proc which file is locked")
async def test_a_lock_is_one_of_the_system_even_where_a_file_system_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real, path = fcntl.flock, tmp_path / "x.lock"
    path.touch()

    def missing(fd: int, how: int) -> None:
        if Path(f"/proc/self/fd/{fd}").readlink().parent == tmp_path:
            raise OSError(errno.ENOSYS, "no locks here")
        real(fd, how)

    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    monkeypatch.setattr(fcntl, "flock", missing)
    for _ in range(2):
        async with alone(str(path), lambda: None):
            (held,) = elsewhere.glob("callgate-*.lock")
            with held.open() as other, pytest.raises(BlockingIOError):
                real(other.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


async def test_what_a_killed_process_left_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "x.lock").write_text("4711\nelsewhere\n")
    told: list[bool] = []
    async with alone(str(tmp_path / "x.lock"), lambda: told.append(True)):
        assert told == []
