from __future__ import annotations

from pathlib import Path

import pytest

from callgate.runtime import Quarantine, Quarantined, fetched_file, fetched_model
from callgate.runtime.model_folders import models_in_folders
from callgate.settings import Settings
from callgate.vocabulary import FetchFailed, HubRef, ModelRef, NotFound, UsageError
from tests.runtime.played import settings

COMMIT = "c" * 40


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of the hub with one model of two quantisations, in two revisions that share one of them."""
    repo = tmp_path / "cache" / "models--owner--name"
    (repo / "blobs").mkdir(parents=True)
    for blob in ("one", "two"):
        (repo / "blobs" / blob).write_bytes(blob.encode() * 100)
    for commit, files in {
        COMMIT: {"a-Q4_0.gguf": "one", "a-Q8_0.gguf": "two"},
        "d" * 40: {"a-Q4_0.gguf": "one"},
    }.items():
        (repo / "snapshots" / commit).mkdir(parents=True)
        for name, blob in files.items():
            (repo / "snapshots" / commit / name).symlink_to(f"../../blobs/{blob}")
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(COMMIT)
    return tmp_path / "cache"


@pytest.fixture
def wanted(cache: Path) -> Settings:
    return settings(hub__cache=str(cache))


def put(quarantine: Quarantine, *files: Path, move: bool = False, may_return: bool = True) -> Quarantined:
    return quarantine.add(
        tuple(map(str, files)),
        reason="it doesn't load",
        kind="EngineFailed",
        repo="owner/name",
        revision=COMMIT,
        move=move,
        may_return=may_return,
    )


def test_a_marked_model_is_not_touched_but_not_listed_nor_run(cache: Path, wanted: Settings) -> None:
    quarantine = Quarantine(wanted)
    file = cache / "models--owner--name" / "snapshots" / COMMIT / "a-Q8_0.gguf"
    assert fetched_file(HubRef("owner/name", quant="Q8_0"), wanted) == str(file)
    entry = put(quarantine, file)
    assert file.is_symlink()
    assert [Path(model.ref.name).name for model in models_in_folders(wanted)] == ["a-Q4_0.gguf"]
    with pytest.raises(UsageError, match="in quarantine: it doesn't load") as caught:
        fetched_model(ModelRef.parse("hf:owner/name:Q8_0"), wanted)
    assert entry.id in str(caught.value.hint)
    quarantine.restore(quarantine.find(entry.id[:4]))
    assert len(models_in_folders(wanted)) == 2
    assert quarantine.entries() == []


def test_a_moved_model_comes_back_to_its_place(tmp_path: Path) -> None:
    own = tmp_path / "models"
    own.mkdir()
    parts = [own / f"m-0000{number}-of-00002.gguf" for number in (1, 2)]
    for part in parts:
        part.write_bytes(b"x" * 10)
    wanted = settings(models__dir=str(own))
    quarantine = Quarantine(wanted)
    entry = put(quarantine, *parts, move=True)
    assert (models_in_folders(wanted), entry.size) == ([], 20)
    assert not any(part.exists() for part in parts)
    quarantine.restore(entry)
    assert all(part.exists() for part in parts)
    assert [model.ref.name for model in models_in_folders(wanted)] == [str(parts[0])]


def test_what_lies_about_itself_may_not_return(tmp_path: Path, wanted: Settings) -> None:
    quarantine = Quarantine(wanted)
    file = tmp_path / "x"
    file.write_bytes(b"12345")
    entry = put(quarantine, file, move=True, may_return=False)
    with pytest.raises(UsageError, match="can't be restored"):
        quarantine.restore(entry)
    assert quarantine.delete(entry) == 5
    assert (quarantine.entries(), file.exists(), Path(entry.places[0]).exists()) == ([], False, False)


def test_content_that_another_revision_uses_stays(cache: Path, wanted: Settings) -> None:
    quarantine = Quarantine(wanted)
    repo = cache / "models--owner--name"
    quarantine.delete(put(quarantine, repo / "snapshots" / COMMIT / "a-Q4_0.gguf"))
    assert (repo / "blobs" / "one").exists()
    quarantine.delete(put(quarantine, repo / "snapshots" / COMMIT / "a-Q8_0.gguf"))
    assert not (repo / "blobs" / "two").exists()


def test_entries_are_found_by_id_and_path_and_unreadable_ones_are_none(tmp_path: Path, wanted: Settings) -> None:
    quarantine = Quarantine(wanted)
    entries = [put(quarantine, tmp_path / f"{number}.gguf") for number in range(3)]
    assert quarantine.entries() == entries
    assert quarantine.find(str(tmp_path / "1.gguf")) == entries[1]
    folder = Path(wanted.data_folder) / "quarantine"
    (folder / "bad.json").write_text("{")
    (folder / "worse.json").write_text('{"id": 3}')
    assert quarantine.entries() == entries
    for name in ("", "zzz", "/nowhere"):
        with pytest.raises(NotFound):
            quarantine.find(name)
    quarantine.lift(str(tmp_path / "0.gguf"))
    assert quarantine.entries() == entries[1:]
    assert quarantine.entry_of(str(tmp_path / "0.gguf")) is None
    assert entries[1].as_json()["type"] == "EngineFailed"


def test_a_place_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    quarantine = Quarantine(settings(storage__home=str(tmp_path / "file")))
    with pytest.raises(FetchFailed, match="can't be written"):
        put(quarantine, tmp_path / "m.gguf")


# Models of the hub, by their names


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("owner/name", "a-Q4_0.gguf"),
        ("owner/name:Q8_0", "a-Q8_0.gguf"),
        ("owner/name/a-Q8_0.gguf", "a-Q8_0.gguf"),
        (f"owner/name@{'d' * 40}", "a-Q4_0.gguf"),
        ("owner/name:Q2_K", None),
        ("owner/name@v1", None),
        ("owner/other", None),
        ("owner/name/b.gguf", None),
    ],
)
def test_a_fetched_model_is_found_by_its_name(cache: Path, wanted: Settings, name: str, file: str | None) -> None:
    found = fetched_file(HubRef.parse(name), wanted)
    assert (Path(found).name if found else None) == file
    ref = ModelRef.parse(f"hf:{name}")
    assert fetched_model(ref, wanted).scheme == ("file" if file else "hf")


def test_a_part_alone_is_no_model(cache: Path, wanted: Settings) -> None:
    folder = cache / "models--owner--name" / "snapshots" / COMMIT
    for name in ("a-Q4_0.gguf", "a-Q8_0.gguf"):
        (folder / name).unlink()
    (folder / "a-Q4_0-00001-of-00002.gguf").symlink_to("../../blobs/one")
    assert fetched_file(HubRef("owner/name"), wanted) is None


@pytest.mark.parametrize("written", ["../../../etc", "", "x" * 1000, "\xff"])
def test_a_strange_note_of_a_revision_leads_nowhere(cache: Path, wanted: Settings, written: str) -> None:
    (cache / "models--owner--name" / "refs" / "main").write_text(written)
    assert fetched_file(HubRef("owner/name"), wanted) is None


# What a link leads to


def test_what_a_link_leads_to_outside_the_cache_stays(tmp_path: Path, wanted: Settings) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "m.gguf"
    target.write_bytes(b"precious")
    link = tmp_path / "m.gguf"
    link.symlink_to(target)
    quarantine = Quarantine(wanted)
    assert quarantine.delete(put(quarantine, link)) == 0
    assert (link.is_symlink(), target.read_bytes()) == (False, b"precious")


def test_a_link_of_the_cache_that_leads_out_of_its_repository_takes_nothing_along(
    cache: Path, tmp_path: Path, wanted: Settings
) -> None:
    target = tmp_path / "m.gguf"
    target.write_bytes(b"precious")
    link = cache / "models--owner--name" / "snapshots" / COMMIT / "b-Q6_K.gguf"
    link.symlink_to(target)
    quarantine = Quarantine(wanted)
    assert quarantine.delete(put(quarantine, link)) == 0
    assert target.exists()


def test_a_copy_that_a_good_one_replaced_is_removed(tmp_path: Path, wanted: Settings) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"bad")
    quarantine = Quarantine(wanted)
    entry = put(quarantine, file, move=True)
    file.write_bytes(b"good")
    quarantine.lift(str(file))
    assert (quarantine.entries(), Path(entry.places[0]).exists(), file.read_bytes()) == ([], False, b"good")


def test_a_model_of_our_own_folder_says_that_it_is_in_quarantine(tmp_path: Path) -> None:
    folder = tmp_path / "owner" / "name" / COMMIT
    folder.mkdir(parents=True)
    (folder / "a-Q8_0.gguf").write_bytes(b"x")
    (tmp_path / "owner" / "name" / "refs").mkdir()
    (tmp_path / "owner" / "name" / "refs" / "main").write_text(COMMIT)
    own = settings(models__dir=str(tmp_path))
    entry = put(Quarantine(own), folder / "a-Q8_0.gguf", move=True)
    with pytest.raises(UsageError, match="in quarantine") as caught:
        fetched_file(HubRef("owner/name"), own)
    assert entry.id in str(caught.value.hint)
    assert fetched_file(HubRef("owner/name", quant="Q2_K"), own) is None
