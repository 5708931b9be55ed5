from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime import model_folders
from callgate.runtime.model_folders import models_in_folders
from callgate.settings import Settings
from callgate.vocabulary import ModelRef
from tests.runtime.played import settings


def only(folder: Path, **overrides: object) -> Settings:
    """Settings that lead to nothing but what a test has made."""
    nowhere = str(folder / "nowhere")
    return settings(**{"ollama__models": nowhere, "hub__cache": nowhere, "models__dir": str(folder), **overrides})


def put(path: Path, content: bytes = b"GGUF", at: float | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if at is not None:
        os.utime(path, (at, at))
    return path


def names(chosen: Settings) -> list[str]:
    return [model.name for model in models_in_folders(chosen)]


def test_files_in_the_models_folder_are_found_the_newest_first(tmp_path: Path) -> None:
    old = put(tmp_path / "old.gguf", b"12345", at=1000)
    put(tmp_path / "deep" / "er" / "NEW.GGUF", at=2000)
    put(tmp_path / "notes.txt")
    put(tmp_path / "half.gguf.part")
    newest, oldest = models_in_folders(only(tmp_path))
    assert newest.name == "deep/er/NEW.GGUF"
    assert oldest.ref == ModelRef("file", str(old))
    assert (oldest.size, oldest.modified, oldest.backend, oldest.place) == (5, 1000, "llamacpp", "models folder")


def test_what_goes_with_a_model_is_none(tmp_path: Path) -> None:
    for name in ("mmproj-F16.gguf", "x-mmproj.gguf", "imatrix.gguf", "big-00002-of-00003.gguf"):
        put(tmp_path / name)
    assert names(only(tmp_path)) == []


def test_a_model_in_parts_is_one_as_large_as_all_of_them(tmp_path: Path) -> None:
    for number, size in ((1, 10), (2, 20), (3, 30)):
        put(tmp_path / f"big-{number:05}-of-00003.gguf", b"x" * size)
    (model,) = models_in_folders(only(tmp_path))
    assert (model.name, model.size) == ("big-00001-of-00003.gguf", 60)


def test_a_model_whose_parts_are_missing_is_none(tmp_path: Path) -> None:
    put(tmp_path / "big-00001-of-99999.gguf", b"x")
    put(tmp_path / "m-00001-of-00003.gguf", b"x")
    put(tmp_path / "m-00003-of-00003.gguf", b"x")
    assert models_in_folders(only(tmp_path)) == []
    put(tmp_path / "m-00002-of-00003.gguf", b"x")
    assert [model.size for model in models_in_folders(only(tmp_path))] == [3]


def test_the_hugging_face_cache_is_read_by_its_snapshots(tmp_path: Path) -> None:
    cache = tmp_path / "hub"
    blob = put(cache / "models--owner--some--name" / "blobs" / "abc", b"123")
    for revision in ("r1", "r2"):
        link = cache / "models--owner--some--name" / "snapshots" / revision / "Q4" / "m.gguf"
        link.parent.mkdir(parents=True)
        link.symlink_to(blob)
    (cache / "models--owner--some--name" / "snapshots" / "r2" / "gone.gguf").symlink_to(cache / "nowhere")
    put(cache / "datasets--owner--x" / "snapshots" / "r1" / "d.gguf")
    put(cache / "loose.gguf")
    (model,) = models_in_folders(only(tmp_path / "empty", hub__cache=str(cache)))
    assert (model.name, model.size, model.place) == ("owner/some--name/Q4/m.gguf", 3, "Hugging Face cache")


def test_the_usual_folders_are_found_without_settings(home: Path, tmp_path: Path) -> None:
    put(home / ".cache" / "huggingface" / "hub" / "models--o--n" / "snapshots" / "r" / "hub.gguf", at=1)
    put(home / ".lmstudio" / "models" / "o" / "n" / "new.gguf")
    put(home / ".cache" / "lm-studio" / "models" / "o" / "n" / "old.gguf")
    nowhere = str(tmp_path / "nowhere")
    assert names(settings(ollama__models=nowhere)) == ["o/n/new.gguf", "o/n/old.gguf", "o/n/hub.gguf"]


def test_the_hubs_own_variables_name_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "home" / "hub" / "models--o--n" / "snapshots" / "r" / "a.gguf")
    put(tmp_path / "cache" / "models--o--n" / "snapshots" / "r" / "b.gguf")
    put(tmp_path / "xdg" / "huggingface" / "hub" / "models--o--n" / "snapshots" / "r" / "c.gguf")
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert names(settings()) == ["o/n/c.gguf"]
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    assert names(settings()) == ["o/n/a.gguf"]
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert names(settings()) == ["o/n/b.gguf"]


def test_the_same_file_in_two_folders_is_one_model(home: Path, tmp_path: Path) -> None:
    file = put(tmp_path / "m.gguf")
    studio = home / ".lmstudio" / "models"
    studio.mkdir(parents=True)
    (studio / "soft.gguf").symlink_to(file)
    (studio / "hard.gguf").hardlink_to(file)
    assert names(only(tmp_path)) == ["m.gguf"]


def test_folders_that_lead_to_themselves_have_an_end(tmp_path: Path) -> None:
    put(tmp_path / "a" / "m.gguf")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    assert len(names(only(tmp_path))) == 1


def test_no_folder_is_too_deep_or_too_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path.joinpath(*["d"] * model_folders.DEEPEST) / "deep.gguf")
    put(tmp_path.joinpath(*["d"] * (model_folders.DEEPEST + 1)) / "deeper.gguf")
    assert [Path(name).name for name in names(only(tmp_path))] == ["deep.gguf"]
    for number in range(20):
        put(tmp_path / f"{number}.gguf")
    monkeypatch.setattr(model_folders, "MOST_ENTRIES", 10)
    assert len(names(only(tmp_path))) <= 10
    monkeypatch.setattr(model_folders, "MOST_MODELS", 3)
    assert len(names(only(tmp_path))) == 3


def test_files_are_listed_without_being_opened(tmp_path: Path) -> None:
    locked = put(tmp_path / "m.gguf")
    locked.chmod(0)
    os.mkfifo(tmp_path / "pipe.gguf")
    assert names(only(tmp_path)) == ["m.gguf"]


@given(st.text(min_size=1, max_size=60))
def test_any_name_is_one_of_a_model_or_not(name: str) -> None:
    assert isinstance(model_folders._is_a_model(f"{name}.gguf"), bool)
