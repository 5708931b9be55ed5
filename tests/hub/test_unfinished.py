from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from filelock import FileLock

from callgate.hub import STALE_DAYS, leftovers, remove_stale
from callgate.hub.partial import Partial
from callgate.hub.records import Repository
from callgate.hub.shelves import Shelf, shelf_for
from callgate.settings import Settings
from tests.hub.watching import files_in
from tests.runtime.played import settings

REPOSITORY = Repository(id="owner/name", revision="main", commit="c" * 40, files=())
DAY = 86_400


@pytest.fixture(params=["cache", "own"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """In the hub's cache, or in a folder of ours."""
    own = {"models__dir": str(tmp_path / "own")} if request.param == "own" else {}
    return settings(hub__cache=str(tmp_path / "cache"), **own)


def begun(kept: Settings, tag: str, *, days_ago: float) -> Shelf:
    """A download of two parts of which one came, and which nobody touched since."""
    shelf = shelf_for(REPOSITORY, kept)
    partial = Partial(shelf.partial(tag), 3_000_000)
    partial.open()
    partial.write(0, b"x" * 2_000_000)
    partial.close()
    then = time.time() - days_ago * DAY
    for path in (shelf.partial(tag), shelf.partial(tag) + ".parts"):
        os.utime(path, (then, then))
    return shelf


def test_one_that_rests_is_told_of_with_what_it_takes(kept: Settings) -> None:
    begun(kept, "now", days_ago=0)
    shelf = begun(kept, "then", days_ago=1)
    (found,) = leftovers(kept)
    assert (found.path, found.is_stale) == (shelf.partial("then"), False)
    assert found.lock == shelf.lock("then")
    assert found.repo == (REPOSITORY.id if shelf.is_shared else None)
    assert 2_000_000 <= found.size <= 3_000_000


def test_only_what_nobody_went_on_with_for_long_is_removed(kept: Settings) -> None:
    shelf = begun(kept, "old", days_ago=STALE_DAYS + 1)
    begun(kept, "young", days_ago=STALE_DAYS - 1)
    assert [each.path for each in remove_stale(kept)] == [shelf.partial("old")]
    assert remove_stale(kept) == []
    assert [each.path for each in leftovers(kept)] == [shelf.partial("young")]
    assert not Path(shelf.partial("old") + ".parts").exists()


def test_one_that_somebody_is_at_stays(kept: Settings) -> None:
    shelf = begun(kept, "old", days_ago=STALE_DAYS + 1)
    Path(shelf.lock("old")).parent.mkdir(parents=True, exist_ok=True)
    with FileLock(shelf.lock("old")):
        assert remove_stale(kept) == []
    assert len(remove_stale(kept)) == 1


def test_what_others_left_in_the_cache_is_theirs(tmp_path: Path) -> None:
    kept = settings(hub__cache=str(tmp_path))
    blobs = tmp_path / "models--owner--name" / "blobs"
    blobs.mkdir(parents=True)
    for name in ("a.incomplete", "b", "c.callgate.incomplete"):  # the last without notes, as we never leave one
        (blobs / name).write_bytes(b"x")
        os.utime(blobs / name, (0, 0))
    before = files_in(tmp_path)
    assert (leftovers(kept), remove_stale(kept)) == ([], [])
    assert files_in(tmp_path) == before


def test_nothing_stays_of_a_repository_of_which_nothing_else_was_fetched(tmp_path: Path) -> None:
    kept = settings(hub__cache=str(tmp_path))
    begun(kept, "old", days_ago=STALE_DAYS + 1)
    remove_stale(kept)
    assert not (tmp_path / "models--owner--name").exists()


def test_where_there_is_no_folder_there_is_nothing(tmp_path: Path) -> None:
    kept = settings(hub__cache=str(tmp_path / "no"), models__dir=str(tmp_path / "nor this"))
    assert (leftovers(kept), remove_stale(kept)) == ([], [])
    assert list(tmp_path.iterdir()) == []
