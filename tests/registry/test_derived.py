from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.registry import Derived, DerivedCache, derived, locked
from callgate.vocabulary import Answer, Evidence, Facts, ServerKind, Source

FACTS = Facts(
    name="m",
    templates={"default": "{{ x }}"},
    header={"llama.context_length": 77, "general.name": "é"},
    server=ServerKind.OLLAMA,
    digest="d",
    at=12.5,
)
EVIDENCE = (
    Evidence("tools", Answer.YES, Source.TEMPLATE, "seen", 12.5),
    Evidence("context_length", 77, Source.HEADER, "said", 12.5),
    Evidence("family", "llama", Source.NAME, "so called", 12.5),
)
FOUND = Derived("v1", FACTS, EVIDENCE)


def cache(folder: Path, detector: str = "1") -> DerivedCache:
    return DerivedCache.in_folder(str(folder / "cache"), detector)


def test_what_was_put_is_there_again_the_very_same(tmp_path: Path) -> None:
    first = cache(tmp_path)
    first.put("m", FOUND)
    assert first.get("m") == FOUND
    first.flush()
    again = cache(tmp_path).get("m")
    assert again == FOUND
    assert again is not None
    assert isinstance(again.evidence[0].answer, Answer)
    assert isinstance(again.evidence[0].source, Source)


def test_another_detector_sees_nothing_of_it_and_destroys_nothing(tmp_path: Path) -> None:
    first, second = cache(tmp_path, "1"), cache(tmp_path, "2")
    first.put("m", FOUND)
    first.flush()
    assert second.get("m") is None
    second.put("m", Derived("v2", FACTS, ()))
    second.flush()
    assert cache(tmp_path, "1").get("m") == FOUND


def test_two_at_once_keep_what_the_other_found(tmp_path: Path) -> None:
    first, second = cache(tmp_path), cache(tmp_path)
    for own, name in ((first, "one"), (second, "two")):
        assert own.get("x") is None
        own.put(name, FOUND)
    first.flush()
    second.flush()
    third = cache(tmp_path)
    assert third.get("one") == third.get("two") == FOUND


def test_the_file_may_be_deleted_and_is_its_owners_alone(tmp_path: Path) -> None:
    own = cache(tmp_path)
    own.put("m", FOUND)
    own.flush()
    file = Path(own.path)
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    assert cache(tmp_path).get("m") is None
    own.put("n", FOUND)
    own.flush()
    assert cache(tmp_path).get("n") == FOUND


@given(st.binary() | st.text().map(lambda text: b'{"layout":1,"findings":{"1 m":%b}}' % json.dumps(text).encode()))
def test_whatever_is_in_the_file_it_does_no_harm(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        own = cache(Path(folder))
        Path(own.path).parent.mkdir()
        Path(own.path).write_bytes(content)
        assert own.get("m") is None
        own.put("m", FOUND)
        own.flush()
        assert cache(Path(folder)).get("m") == FOUND


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "MOST_KEPT", 3)
    own = cache(tmp_path)
    for name in "abcde":
        own.put(name, FOUND)
        own.flush()
    kept = cache(tmp_path)
    assert [name for name in "abcde" if kept.get(name)] == ["c", "d", "e"]


def test_the_file_stays_within_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "LARGEST_FILE", 20_000)
    own = cache(tmp_path)
    for number in range(200):
        own.put(str(number), FOUND)
    own.flush()
    assert 10_000 < Path(own.path).stat().st_size <= 20_000
    assert cache(tmp_path).get("199") == FOUND
    assert cache(tmp_path).get("0") is None


def test_what_is_too_large_or_cant_be_written_isnt_kept(tmp_path: Path) -> None:
    own = cache(tmp_path)
    own.put("large", Derived("v", Facts(name="m", templates={"default": "x" * 300_000}), ()))
    own.put("no text", Derived("v", Facts(name="\udcff"), ()))
    own.flush()
    assert [own.get(key) for key in ("large", "no text")] == [None, None]


def test_where_nothing_can_be_written_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    own = cache(tmp_path)
    own.put("m", FOUND)
    own.flush()
    assert own.get("m") == FOUND


def test_a_lock_that_isnt_free_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "SHORT_PATIENCE", 0)
    own = cache(tmp_path)
    own.put("m", FOUND)
    Path(own.path).parent.mkdir()
    with locked(own.path):
        own.flush()
    assert not Path(own.path).exists()
