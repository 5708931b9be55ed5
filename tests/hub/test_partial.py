from __future__ import annotations

import errno
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.hub import partial
from callgate.hub.partial import Partial
from callgate.vocabulary import FetchFailed, NoSpace


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partial, "PART", 10)
        yield


@given(content=st.binary(min_size=1, max_size=95), order=st.randoms(use_true_random=False), cut=st.integers(0, 200))
def test_whenever_it_is_killed_what_is_noted_is_there(content: bytes, order: object, cut: int) -> None:
    """The notes are cut off at any byte, and the content is as it was: what is read back is right or isn't there."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "x")
        first = Partial(path, len(content))
        first.open()
        numbers = list(range(first.count))
        order.shuffle(numbers)  # type: ignore[attr-defined]
        for number in numbers[: cut % (len(numbers) + 1)]:
            first.write(number, content[number * 10 : number * 10 + 10])
        first.close()
        notes = Path(f"{path}.parts")
        kept = notes.read_bytes()
        if cut > 100:
            notes.write_bytes(kept[: len(kept) * (cut - 100) // 101])
        again = Partial(path, len(content))
        for number in range(again.count):
            assert again.read(number) in (None, content[number * 10 : number * 10 + 10])
        again.open()
        for number in again.missing():
            again.write(number, content[number * 10 : number * 10 + 10])
        assert again.done_bytes == len(content)
        again.arrive(str(Path(folder) / "there" / "whole"))
        assert (Path(folder) / "there" / "whole").read_bytes() == content
        assert sorted(entry.name for entry in Path(folder).iterdir()) == ["there"]


@given(notes=st.binary(max_size=60))
def test_notes_of_a_stranger_are_none(notes: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(bytes(45))
        Path(f"{path}.parts").write_bytes(notes)
        assert Partial(str(path), 45).missing() == [0, 1, 2, 3, 4]


def test_another_size_is_another_file(tmp_path: Path) -> None:
    first = Partial(str(tmp_path / "x"), 30)
    first.open()
    first.write(0, b"0123456789")
    first.close()
    assert Partial(str(tmp_path / "x"), 30).done_bytes == 10
    assert Partial(str(tmp_path / "x"), 31).done_bytes == 0


def test_what_is_discarded_is_gone(tmp_path: Path) -> None:
    first = Partial(str(tmp_path / "x"), 30)
    first.open()
    first.write(2, b"0123456789")
    first.discard()
    assert (list(tmp_path.iterdir()), first.done_bytes) == ([], 0)


class Full:
    """A file on a full disk."""

    def seek(self, _: int) -> None: ...

    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None: ...


def test_a_full_disk_is_explained_and_what_came_stays(tmp_path: Path) -> None:
    first = Partial(str(tmp_path / "x"), 30)
    first.open()
    first.write(0, b"0123456789")
    assert first._file
    first._file.close()
    first._file = Full()  # type: ignore[assignment]
    with pytest.raises(NoSpace, match="no room left") as caught:
        first.write(1, b"0123456789")
    first.close()
    assert "goes on where it was" in str(caught.value.hint)
    assert Partial(str(tmp_path / "x"), 30).done_bytes == 10


def test_a_place_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FetchFailed, match="can't be written"):
        Partial(str(tmp_path / "file" / "x"), 30).open()
