"""What a pull puts into quarantine, what it doesn't, and when it lets something go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callgate.hub import Wishes, pulling
from callgate.hub.verifying import Verified, verify
from callgate.runtime import Quarantine
from callgate.vocabulary import (
    Answer,
    CallgateError,
    EngineFailed,
    Evidence,
    HeaderError,
    ModelRejected,
    NotTested,
    Source,
    WrongHash,
)
from tests.hub.played_hub import PlayedHub, Repo
from tests.hub.watching import Watching, content_of, files_in, hub_settings, pulled

CALLED = Evidence("tools", Answer.YES, Source.OBSERVED, "it called the test tool", 0.0)


@pytest.fixture
def hub(tiny: bytes) -> PlayedHub:
    return PlayedHub(owner__name=Repo({"m-Q8_0.gguf": tiny}))


def is_there(path: str) -> bool:
    return Path(path).exists()


def are_one(one: str, other: str) -> bool:
    return Path(one).samefile(other)


def write(path: str, content: bytes) -> None:
    Path(path).write_bytes(content)


def finding(monkeypatch: pytest.MonkeyPatch, error: CallgateError | None, *, loaded: bool, probed: bool) -> None:
    """What the engine says from now on."""
    real = verify

    async def played(*words: object, **more: object) -> Verified:
        if error:
            raise error
        done = await real(*words, **{**more, "probe": False})  # type: ignore[arg-type]
        return Verified(finding=done.finding, was_loaded=loaded, probed=(CALLED,) if probed else ())

    monkeypatch.setattr(pulling, "verify", played)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    ("error", "loaded", "probed", "is_free"),
    [
        (EngineFailed("it doesn't load"), False, False, False),
        (EngineFailed("it doesn't load"), True, False, True),
        (ModelRejected("it failed the probe"), True, False, False),
        (ModelRejected("it failed the probe"), True, True, True),
        (HeaderError("it is another"), False, False, True),
    ],
)
async def test_only_what_was_tested_again_is_let_go(
    hub: PlayedHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    own: bool,
    error: CallgateError,
    loaded: bool,
    probed: bool,
    is_free: bool,
) -> None:
    more: dict[str, Any] = {"models__dir": str(tmp_path / "own")} if own else {}
    async with hub.open():
        quarantine = Quarantine(hub_settings(hub, tmp_path, **more))
        with monkeypatch.context() as patch:
            finding(patch, error, loaded=False, probed=False)
            with pytest.raises(type(error)):
                await pulled(hub, "owner/name", tmp_path, **more)
        (entry,) = quarantine.entries()
        finding(monkeypatch, None, loaded=loaded, probed=probed)
        if is_free:
            assert (await pulled(hub, "owner/name", tmp_path, **more)).fetched
        else:
            with pytest.raises(NotTested, match="stays in quarantine"):
                await pulled(hub, "owner/name", tmp_path, **more)
    assert quarantine.entries() == ([] if is_free else [entry])
    assert is_there(entry.path) is (is_free or not own)
    assert [name for name in files_in(tmp_path) if name.endswith(".quarantined")] == (
        [] if is_free or not own else [str(Path(entry.places[0]).relative_to(tmp_path))]
    )


async def test_what_cannot_be_probed_here_is_no_worse_for_it(
    hub: PlayedHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callgate.hub.verifying.free_memory", lambda: 1000)
    async with hub.open():
        with pytest.raises(NotTested, match="can't be probed here"):
            await pulled(hub, "owner/name", tmp_path, wishes=Wishes(probe=True))
        assert Quarantine(hub_settings(hub, tmp_path)).entries() == []


@pytest.mark.parametrize("own", [False, True])
async def test_what_is_here_is_checked_before_it_is_read(
    hub: PlayedHub, tiny: bytes, tmp_path: Path, own: bool
) -> None:
    more: dict[str, Any] = {"models__dir": str(tmp_path / "own")} if own else {}
    async with hub.open():
        quarantine = Quarantine(hub_settings(hub, tmp_path, **more))
        done = await pulled(hub, "owner/name", tmp_path, **more)
        assert done.fetched
        write(done.fetched.path, b"<html>" * 100)
        with pytest.raises(WrongHash):
            await pulled(hub, "owner/name", tmp_path, **more)
        (entry,) = quarantine.entries()
        assert (entry.kind, entry.moved, entry.may_return) == ("WrongHash", own, False)
        if not own:
            quarantine.delete(entry)
        again = await pulled(hub, "owner/name", tmp_path, **more)
    assert again.fetched
    assert content_of(again.fetched.path) == tiny
    assert quarantine.entries() == []
    assert not [name for name in files_in(tmp_path) if name.endswith(".quarantined")]


async def test_what_came_broken_goes_when_it_came_whole(hub: PlayedHub, tmp_path: Path) -> None:
    async with hub.open():
        quarantine = Quarantine(hub_settings(hub, tmp_path))
        hub.repos["owner/name"].lies["m-Q8_0.gguf"] = {"sha256": "b" * 64}
        with pytest.raises(WrongHash):
            await pulled(hub, "owner/name", tmp_path)
        assert len(quarantine.entries()) == 1
        hub.repos["owner/name"].lies.clear()
        assert (await pulled(hub, "owner/name", tmp_path)).fetched
    assert quarantine.entries() == []
    assert not [name for name in files_in(tmp_path) if name.endswith(".quarantined")]


async def test_a_hub_without_hashes_is_told_of(hub: PlayedHub, tmp_path: Path) -> None:
    async def without(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        if "/resolve/" not in request.path:
            return None
        size = str(hub.size("owner/name", "m-Q8_0.gguf"))
        place = f"{hub.storage}/owner/name/m-Q8_0.gguf?signature=a%2Bb"
        return web.Response(status=302, headers={"X-Linked-Etag": '"abc-1"', "X-Linked-Size": size, "Location": place})

    hub.repos["owner/name"].plain = True
    hub.api_fault = without
    watching = Watching()
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, watching=watching)
    assert done.fetched
    assert [file.hash_checked for file in done.fetched.all] == [False]
    assert any("gave no hash" in note for note in watching.notes)


async def test_a_file_that_a_new_commit_has_too_is_not_fetched_again(
    hub: PlayedHub, tiny: bytes, tmp_path: Path
) -> None:
    own = str(tmp_path / "own")
    async with hub.open():
        first = await pulled(hub, "owner/name", tmp_path, models__dir=own)
        hub.repos["owner/name"].commit = "f" * 40
        before = hub.sent
        again = await pulled(hub, "owner/name", tmp_path, models__dir=own)
        other = tiny[:-1] + b"?"
        hub.repos["owner/name"] = Repo({"m-Q8_0.gguf": other}, commit="e" * 40)
        third = await pulled(hub, "owner/name", tmp_path, models__dir=own)
    assert first.fetched
    assert again.fetched
    assert third.fetched
    assert hub.sent - before <= 4_000_000 + len(tiny)
    assert again.fetched.all[0].bytes_fetched == 0
    assert first.fetched.path != again.fetched.path
    assert are_one(first.fetched.path, again.fetched.path)
    assert content_of(third.fetched.path) == other
    assert content_of(first.fetched.path) == tiny
