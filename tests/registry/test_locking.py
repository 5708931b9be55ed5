from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from callgate.registry import locked
from callgate.vocabulary import StorageError

HOLD = """
import sys, time
from callgate.registry import locked
with locked(sys.argv[1]):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_nobody_else_gets_in_and_is_told_so(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    with locked(path), pytest.raises(StorageError, match="locked by another process"), locked(path, patience=0.05):
        pass
    with locked(path, patience=0):
        pass


def test_another_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    other = subprocess.Popen([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin
    assert other.stdout
    with other.stdin, other.stdout:
        assert other.stdout.readline() == b"in\n"
        with pytest.raises(StorageError), locked(path, patience=0.05):
            pass
        other.kill()
        other.wait()
    with locked(path):
        pass


def test_a_child_that_was_forked_meanwhile_doesnt_keep_it(tmp_path: Path) -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this platform has no fork")
    path = str(tmp_path / "kept")
    read, write = os.pipe()
    with locked(path):
        child = os.fork()
        if not child:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
    try:
        with locked(path, patience=0.5):
            pass
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_threads_keep_out_of_each_others_way(tmp_path: Path) -> None:
    path, count = str(tmp_path / "kept"), tmp_path / "count"
    count.write_text("0")

    def add() -> None:
        for _ in range(20):
            with locked(path):
                count.write_text(str(int(count.read_text()) + 1))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count.read_text() == "80"


def test_where_no_lock_can_be_the_error_says_why(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="can't be locked"), locked(str(tmp_path / "no folder" / "kept")):
        pass


def test_the_locks_file_is_its_owners_alone(tmp_path: Path) -> None:
    with locked(str(tmp_path / "kept")):
        assert (tmp_path / "kept.lock").stat().st_mode & 0o077 == 0
