from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callgate.registry import Fields, ModelRecord, Registry, locked, store, telling, told_to
from callgate.vocabulary import ModelRef, StorageError, UsageError
from workshop.stress import stress

QWEN, LLAMA = ModelRef.parse("qwen3:8b"), ModelRef.parse("llama3.2")
YES = Fields(tool_support=True)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.in_folder(str(tmp_path / "data"))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the user is told."""
    monkeypatch.setattr(telling, "_said", set())
    messages: list[str] = []
    told_to(messages.append)
    yield messages
    told_to(None)


def content(registry: Registry) -> Any:
    return json.loads(Path(registry.path).read_bytes())


def put(registry: Registry, text: str) -> None:
    path = Path(registry.path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def beside(registry: Registry) -> list[str]:
    path = Path(registry.path)
    return sorted(other.name for other in path.parent.iterdir() if other.name not in (path.name, f"{path.name}.lock"))


def test_where_there_is_no_file_nothing_is_kept_and_none_is_made(registry: Registry) -> None:
    assert registry.get(QWEN) is None
    assert list(registry.records()) == []
    assert not Path(registry.path).parent.exists()


def test_what_is_said_is_there_for_everybody(registry: Registry) -> None:
    record = registry.update(QWEN, lambda _: Fields(tool_support=True, manual_context=8192))
    assert record
    assert (record.id, record.tool_support, record.manual_context) == ("ollama:qwen3:8b", True, 8192)
    assert Registry(registry.path).get(ModelRef.parse("ollama:QWEN3:8b")) == record
    assert content(registry) == {
        "version": 1,
        "user_models": [{"id": "ollama:qwen3:8b", "tool_support": True, "manual_context": 8192}],
    }


def test_the_file_is_its_owners_alone(registry: Registry) -> None:
    registry.update(QWEN, lambda _: YES)
    for path in (Path(registry.path), Path(registry.path).parent):
        assert path.stat().st_mode & 0o077 == 0


def test_a_change_sees_what_is_there_and_may_take_away(registry: Registry) -> None:
    registry.update(QWEN, lambda _: Fields(tool_support=True, digest="d1"))
    seen: list[ModelRecord | None] = []

    def change(record: ModelRecord | None) -> Fields:
        seen.append(record)
        return Fields(digest=None, name="mine")

    registry.update(QWEN, change)
    assert seen[0]
    assert seen[0].digest == "d1"
    assert content(registry)["user_models"] == [{"id": "ollama:qwen3:8b", "tool_support": True, "name": "mine"}]


def test_many_models_are_changed_in_one_go(registry: Registry) -> None:
    changed = registry.update_each({QWEN: lambda _: YES, LLAMA: lambda _: Fields(tool_support=False)})
    assert {ref: record and record.tool_support for ref, record in changed.items()} == {QWEN: True, LLAMA: False}


def test_what_changes_nothing_isnt_written(registry: Registry) -> None:
    put(registry, '{"user_models":[{"id":"qwen3:8b","tool_support":true}]}')
    before = Path(registry.path).stat()
    registry.update(QWEN, lambda _: YES)
    registry.update(LLAMA, lambda _: Fields())
    registry.update(LLAMA, lambda _: None)
    assert Path(registry.path).stat() == before


def test_forgetting_gives_what_was_kept(registry: Registry) -> None:
    registry.update_each({QWEN: lambda _: YES, LLAMA: lambda _: YES})
    forgotten = registry.forget(QWEN)
    assert forgotten
    assert forgotten.tool_support is True
    assert registry.get(QWEN) is None
    assert registry.get(LLAMA)
    assert registry.forget(QWEN) is None


def test_what_somebody_else_writes_is_seen(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SETTLED_SECONDS", -1)
    put(registry, '{"user_models":[{"id":"qwen3:8b","tool_support":true}]}')
    assert registry.get(QWEN)
    put(registry, '{"user_models":[{"id":"llama3.2","tool_support":true}]}')
    assert registry.get(QWEN) is None
    assert registry.get(LLAMA)


def test_a_file_that_was_written_just_now_is_read_again(registry: Registry) -> None:
    """Its time and its size may not show that it has changed."""
    put(registry, '{"user_models":[{"id":"qwen3:8b","tool_support":true }]}')
    stat = Path(registry.path).stat()
    assert registry.get(QWEN)
    with Path(registry.path).open("r+") as file:
        file.write('{"user_models":[{"id":"qwen3:8b","tool_support":false}]}')
    os.utime(registry.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    record = registry.get(QWEN)
    assert record
    assert record.tool_support is False


@pytest.mark.parametrize("damaged", ["", "{", '{"user_models": [{"id": "qwen3:8b", "tool_su', "\0" * 100, "[[[", '"x"'])
@pytest.mark.parametrize("writes", [False, True])
def test_a_damaged_file_is_set_aside_the_user_told_once_and_work_goes_on(
    registry: Registry, told: list[str], damaged: str, writes: bool
) -> None:
    put(registry, damaged)
    if writes:
        registry.update(QWEN, lambda _: YES)
    else:
        assert registry.get(QWEN) is None
        assert registry.get(QWEN) is None
        registry.update(QWEN, lambda _: YES)
    (aside,) = beside(registry)
    assert re.fullmatch(r"user_models\.json\.corrupt-\d{8}T\d{6}Z", aside)
    assert (Path(registry.path).parent / aside).read_text() == damaged
    assert len(told) == 1
    assert aside in told[0]
    assert registry.get(QWEN)
    assert Registry(registry.path).get(QWEN)


def test_two_that_are_damaged_in_one_second_are_both_kept(registry: Registry, told: list[str]) -> None:
    for text in ("{1", "{2"):
        put(registry, text)
        registry.get(QWEN)
    folder = Path(registry.path).parent
    assert sorted((folder / name).read_text() for name in beside(registry)) == ["{1", "{2"]
    assert len(told) == 2


def test_a_damaged_file_that_somebody_mends_meanwhile_stays(registry: Registry, told: list[str]) -> None:
    put(registry, "{")
    with locked(registry.path):
        reader = threading.Thread(target=registry.get, args=(QWEN,))
        reader.start()
        put(registry, '{"user_models":[{"id":"qwen3:8b"}]}')
    reader.join()
    assert beside(registry) == []
    assert told == []


def test_a_damaged_file_that_cant_be_set_aside_does_no_harm(
    registry: Registry, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(registry, "{")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    assert registry.get(QWEN) is None
    assert registry.get(QWEN) is None
    assert len(told) == 1
    with pytest.raises(StorageError):
        registry.update(QWEN, lambda _: YES)


def test_a_file_that_cant_be_read_is_left_alone_and_the_user_told(registry: Registry, told: list[str]) -> None:
    Path(registry.path).mkdir(parents=True)
    assert registry.get(QWEN) is None
    assert registry.get(LLAMA) is None
    assert len(told) == 1
    assert "can't be read" in told[0]
    with pytest.raises(StorageError, match="can't be read"):
        registry.update(QWEN, lambda _: YES)


def test_an_older_layout_is_migrated_and_the_old_file_kept(registry: Registry, told: list[str]) -> None:
    older = '[{"id": "qwen3:8b", "tool_support": true, "mine": 1.50}]'
    put(registry, older)
    assert registry.get(QWEN)
    assert Path(registry.path).read_text() == older
    registry.update(LLAMA, lambda _: YES)
    assert content(registry)["version"] == 1
    assert [entry["id"] for entry in content(registry)["user_models"]] == ["qwen3:8b", "ollama:llama3.2:latest"]
    assert '"mine": 1.50' in Path(registry.path).read_text()
    (aside,) = beside(registry)
    assert (Path(registry.path).parent / aside).read_text() == older
    assert len(told) == 1


OLDER, DAMAGED = '[{"id": "qwen3:8b", "tool_support": true}]', '{"user_models": [{"id"'


@pytest.mark.parametrize(("before", "kept"), [(OLDER, 2), (DAMAGED, 1)])
def test_the_user_is_told_of_it_when_it_is_so_and_nobody_is_kept_out(
    registry: Registry, before: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "_said", set())
    put(registry, before)
    seen: list[int] = []

    def look(_: str) -> None:
        with locked(registry.path, patience=0):
            seen.append(len(content(registry)["user_models"]))

    told_to(look)
    try:
        registry.update(LLAMA, lambda _: YES)
    finally:
        told_to(None)
    assert seen == [kept]


@pytest.mark.parametrize("before", [OLDER, DAMAGED])
def test_a_listener_that_fails_loses_no_update(
    registry: Registry, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "_said", set())
    put(registry, before)
    heard: list[str] = []

    def fail(message: str) -> None:
        heard.append(message)
        raise RuntimeError("there is no current event loop in thread 'asyncio_0'")

    told_to(fail)
    try:
        registry.update(LLAMA, lambda _: YES)
    finally:
        told_to(None)
    assert len(heard) == 1
    assert content(registry)["version"] == 1
    assert registry.get(LLAMA)
    assert len(beside(registry)) == 1


def test_a_migration_that_cant_be_written_leaves_all_as_it_was_and_says_nothing(
    registry: Registry, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(registry, OLDER)

    def full(path: str, content: bytes) -> None:
        if path == registry.path:
            raise StorageError("no space left on the disk")
        Path(path).write_bytes(content)

    monkeypatch.setattr(store, "write_whole", full)
    with pytest.raises(StorageError, match="no space"):
        registry.update(LLAMA, lambda _: YES)
    assert Path(registry.path).read_text() == OLDER
    assert beside(registry) == []
    assert told == []


def test_a_newer_layout_is_read_and_never_overwritten(registry: Registry, told: list[str]) -> None:
    newer = '{"version": 2, "user_models": [{"id": "qwen3:8b", "tool_support": true}]}'
    put(registry, newer)
    assert registry.get(QWEN)
    with pytest.raises(StorageError, match="newer callgate"):
        registry.update(QWEN, lambda _: Fields(tool_support=False))
    with pytest.raises(StorageError, match="newer callgate"):
        registry.forget(QWEN)
    assert Path(registry.path).read_text() == newer
    assert told == []


def test_a_link_is_followed_and_stays(registry: Registry, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.json"
    real.parent.mkdir()
    link = tmp_path / "data" / "user_models.json"
    link.parent.mkdir()
    link.symlink_to(real)
    Registry(str(link)).update(QWEN, lambda _: YES)
    assert link.is_symlink()
    assert json.loads(real.read_bytes())["user_models"]


def test_a_name_that_is_no_text_is_refused_with_a_reason(registry: Registry) -> None:
    with pytest.raises(UsageError, match="isn't text"):
        registry.update(ModelRef("file", os.fsdecode(b"/m\xff.gguf")), lambda _: YES)
    assert registry.get(ModelRef("file", os.fsdecode(b"/m\xff.gguf"))) is None


def test_a_change_that_fails_changes_nothing_and_lets_go(registry: Registry) -> None:
    registry.update(QWEN, lambda _: YES)

    def fail(_: ModelRecord | None) -> Fields:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        registry.update_each({QWEN: lambda _: Fields(tool_support=False), LLAMA: fail})
    record = registry.get(QWEN)
    assert record
    assert record.tool_support is True
    registry.update(LLAMA, lambda _: YES)


def test_no_update_of_many_threads_is_lost(registry: Registry) -> None:
    def write(writer: int) -> None:
        mine = Registry(registry.path)
        for number in range(10):
            mine.update(ModelRef("ollama", f"w{writer}:{number}"), lambda _: YES)
            mine.update(QWEN, lambda record: Fields(manual_context=((record and record.manual_context) or 0) + 1))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(registry.records())) == 41
    record = registry.get(QWEN)
    assert record
    assert record.manual_context == 40


@pytest.mark.skipif(os.name != "posix", reason="forks its writers")
def test_writers_that_are_killed_in_the_middle_lose_nothing_that_they_were_told_is_kept(tmp_path: Path) -> None:
    """`./dev stress registry` does this with 500 kills."""
    outcome = stress(tmp_path, kills=20, writers=3, seed=1)
    assert outcome.problems == []
    assert outcome.kills == 20
    assert outcome.acknowledged > 0
    assert outcome.looks > 20


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is damaged"),
        ('{"version": 99}', "written by a newer callgate"),
        ('{"user_models": []}', None),
        (None, None),
    ],
)
def test_what_is_wrong_with_a_file_is_told_without_touching_it(
    tmp_path: Path, content: str | None, words: str | None
) -> None:
    path = tmp_path / store.FILE_NAME
    if content is not None:
        path.write_text(content)
    problem = Registry.in_folder(str(tmp_path)).problem()
    assert (problem is None) == (words is None)
    assert (words or "") in (problem or "")
    assert [each.read_text() for each in tmp_path.iterdir()] == ([] if content is None else [content])
