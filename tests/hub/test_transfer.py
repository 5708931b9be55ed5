from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from callgate.hub import transfer
from callgate.runtime import Quarantine
from callgate.vocabulary import BadStatus, CallgateError, FetchFailed, Unreachable, WrongHash
from callgate.wire import Patience
from tests.hub.played_hub import TOKEN, PlayedHub, Repo, refused
from tests.hub.watching import Watching, content_of, files_in, hub_settings, pulled


@pytest.fixture
def big(tiny: bytes) -> bytes:
    """Ten parts and a bit, none like another."""
    return tiny + random.Random(1).randbytes(20_500_000 - len(tiny))


def played(
    content: bytes, fault: Callable[[web.Request, PlayedHub], Awaitable[web.StreamResponse | None]]
) -> PlayedHub:
    hub = PlayedHub(owner__name=Repo({"m.gguf": content}))
    hub.fault = fault
    return hub


def first_of(request: web.Request) -> int:
    return int(request.headers["Range"].removeprefix("bytes=").partition("-")[0])


async def test_parts_come_several_at_once(big: bytes, tmp_path: Path) -> None:
    waiting = 0
    most = 0
    all_there = asyncio.Event()

    async def gather(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        nonlocal waiting, most
        if first_of(request) == 0:
            return None
        waiting += 1
        most = max(most, waiting)
        if waiting == 3:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), 30)
        waiting -= 1
        return None

    hub = played(big, gather)
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, hub__connections=3)
    assert done.fetched
    assert content_of(done.fetched.path) == big
    assert most == 3
    assert hub.sent == len(big)


async def test_a_cut_connection_goes_on_where_it_was(big: bytes, tmp_path: Path) -> None:
    cut: set[int] = set()

    async def cutting(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        start = first_of(request)
        if start % 2_000_000 or start in cut or start == 0:
            return None
        cut.add(start)
        headers = {"Content-Range": f"bytes {start}-{min(start + 2_000_000, len(big)) - 1}/{len(big)}"}
        response = web.StreamResponse(status=206, headers=headers)
        response.content_length = min(2_000_000, len(big) - start)
        await response.prepare(request)
        await response.write(big[start : start + 100_000])
        hub.sent += min(100_000, len(big) - start)
        assert request.transport
        request.transport.close()
        return response

    hub = played(big, cutting)
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path)
    assert done.fetched
    assert content_of(done.fetched.path) == big
    assert len(cut) == 10
    asked = sorted(first_of(request) for request in hub.stored)
    assert sum(start % 2_000_000 != 0 for start in asked) >= 5  # they went on in the middle of a part
    assert done.fetched.all[0].bytes_fetched == len(big)


@pytest.mark.parametrize(("status", "headers"), [(503, {}), (500, {}), (429, {"Retry-After": "0"}), (408, {})])
async def test_a_busy_storage_server_is_asked_again(
    tiny: bytes, tmp_path: Path, status: int, headers: dict[str, str]
) -> None:
    refusals = 0

    async def busy(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        nonlocal refusals
        if refusals < 4:
            refusals += 1
            return web.Response(status=status, headers=headers)
        return None

    hub = played(tiny, busy)
    async with hub.open():
        assert (await pulled(hub, "owner/name", tmp_path)).fetched
    assert refusals == 4


async def test_a_link_that_expired_is_asked_for_anew(big: bytes, tmp_path: Path) -> None:
    expired = 0

    async def expiring(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        nonlocal expired
        if first_of(request) >= 6_000_000 and not expired:
            expired += 1
            return web.Response(status=403)
        return None

    hub = played(big, expiring)
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, hub__token=TOKEN)
    assert done.fetched
    heads = [request for request in hub.requests if request.method == "HEAD"]
    assert (expired, len(heads)) == (1, 2)


async def test_a_licence_withdrawn_meanwhile_is_what_it_says(big: bytes, tmp_path: Path) -> None:
    async def expiring(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        if first_of(request) >= 6_000_000:
            hub.api_fault = withdrawn
            return web.Response(status=403)
        return None

    async def withdrawn(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        return refused(403, "GatedRepo", "restricted")

    hub = played(big, expiring)
    async with hub.open():
        with pytest.raises(CallgateError, match="have yet to accept its licence"):
            await pulled(hub, "owner/name", tmp_path, hub__token=TOKEN)


async def test_what_came_stays_when_the_server_gives_up_and_is_not_fetched_again(big: bytes, tmp_path: Path) -> None:
    async def broken(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        return web.Response(status=500) if first_of(request) >= 12_000_000 else None

    hub = played(big, broken)
    async with hub.open():
        with pytest.raises(BadStatus, match="status 500"):
            await pulled(hub, "owner/name", tmp_path, hub__connections=1)
        assert not any("snapshots" in name for name in files_in(tmp_path))
        sent = hub.sent
        hub.fault = None
        done = await pulled(hub, "owner/name", tmp_path)
    assert done.fetched
    file = done.fetched.all[0]
    assert (file.bytes_resumed, file.bytes_fetched) == (12_000_000, len(big) - 12_000_000)
    assert hub.sent - sent == file.bytes_fetched
    assert done.looked.header_bytes == 0  # the front was here
    assert content_of(done.fetched.path) == big


async def test_a_silent_server_is_given_up(tiny: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_STEPS", Patience(connect=1, first_byte=0.05, between=0.05))

    async def silent(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        await asyncio.sleep(60)
        return None

    hub = played(tiny, silent)
    async with hub.open():
        with pytest.raises(Unreachable):
            await pulled(hub, "owner/name", tmp_path)


# Servers that lie


async def test_another_part_than_was_asked_for_is_refused(big: bytes, tmp_path: Path) -> None:
    async def shifted(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        headers = {"Content-Range": f"bytes 5-9/{len(big)}"}
        return web.Response(status=206, headers=headers, body=b"wrong") if first_of(request) else None

    hub = played(big, shifted)
    async with hub.open():
        with pytest.raises(FetchFailed, match="another part"):
            await pulled(hub, "owner/name", tmp_path)


async def test_a_truncated_file_is_refused(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    hub.repos["owner/name"].lies["m.gguf"] = {"size": len(tiny) + 1_000_000}
    async with hub.open():
        with pytest.raises(FetchFailed, match="by the hub's word"):
            await pulled(hub, "owner/name", tmp_path)


@pytest.mark.parametrize("ranges", [True, False])
async def test_a_wrong_hash_goes_to_quarantine_and_is_never_a_model(tiny: bytes, tmp_path: Path, ranges: bool) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    hub.repos["owner/name"].lies["m.gguf"] = {"sha256": "b" * 64}
    hub.ranges = ranges
    async with hub.open():
        settings = hub_settings(hub, tmp_path)
        with pytest.raises(WrongHash, match="isn't what the hub announced") as caught:
            await pulled(hub, "owner/name", tmp_path)
    (entry,) = Quarantine(settings).entries()
    assert (entry.kind, entry.may_return, entry.size) == ("WrongHash", False, len(tiny))
    assert entry.id in str(caught.value.hint)
    assert not any("snapshots" in name or name.endswith("/blobs/" + "b" * 64) for name in files_in(tmp_path))
    assert Quarantine(settings).delete(entry) == len(tiny)
    assert [name for name in files_in(tmp_path) if not name.endswith(".lock")] == []


async def test_a_file_swapped_after_the_look_goes_to_quarantine(big: bytes, tiny: bytes, tmp_path: Path) -> None:
    async def swapping(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        if first_of(request) and not hub.repos["owner/name"].lies:
            hub.repos["owner/name"].lies["m.gguf"] = {"sha256": hub.sha256("owner/name", "m.gguf")}
            hub.repos["owner/name"].files["m.gguf"] = big[:2_000_000] + bytes(len(big) - 2_000_000)
        return None

    hub = played(big, swapping)
    async with hub.open():
        with pytest.raises(WrongHash):
            await pulled(hub, "owner/name", tmp_path)


async def test_remains_that_are_no_good_are_fetched_again(big: bytes, tmp_path: Path) -> None:
    async def broken(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        return web.Response(status=400) if first_of(request) >= 12_000_000 else None

    hub = played(big, broken)
    watching = Watching()
    async with hub.open():
        with pytest.raises(BadStatus):
            await pulled(hub, "owner/name", tmp_path, hub__connections=1)
        (left,) = [name for name in files_in(tmp_path) if name.endswith(".callgate.incomplete")]
        spoil(str(tmp_path / left), 5_000_000)  # as a loss of power may leave it
        hub.fault = None
        done = await pulled(hub, "owner/name", tmp_path, watching=watching)
    assert done.fetched
    assert content_of(done.fetched.path) == big
    assert any("fetching all of it again" in note for note in watching.notes)


async def test_a_spoilt_file_of_the_cache_is_marked_and_not_touched(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        settings = hub_settings(hub, tmp_path)
        done = await pulled(hub, "owner/name", tmp_path)
        assert done.fetched
        spoil(done.fetched.path, 11_000_000)
        with pytest.raises(WrongHash):
            await pulled(hub, "owner/name", tmp_path)
        (entry,) = Quarantine(settings).entries()
        assert (entry.path, entry.moved) == (done.fetched.path, False)
        assert len(content_of(entry.path)) == len(tiny)
        Quarantine(settings).delete(entry)
        again = await pulled(hub, "owner/name", tmp_path)
    assert again.fetched
    assert content_of(again.fetched.path) == tiny


def spoil(path: str, at: int) -> None:
    with Path(path).open("r+b") as file:
        file.seek(at)
        file.write(bytes(1000))


# A server without ranges


async def test_without_ranges_the_file_comes_in_one_go(big: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": big}))
    hub.ranges = False
    watching = Watching()
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, watching=watching)
    assert done.fetched
    assert content_of(done.fetched.path) == big
    assert watching.progress[-1][:2] == (len(big), len(big))


async def test_without_ranges_a_cut_starts_afresh_and_ends_well(big: bytes, tmp_path: Path) -> None:
    cuts = 0

    async def cutting(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        nonlocal cuts
        if "Range" in request.headers or cuts == 2:
            return None
        cuts += 1
        response = web.StreamResponse()
        response.content_length = len(big)
        await response.prepare(request)
        await response.write(big[: cuts * 5_000_000])
        assert request.transport
        request.transport.close()
        return response

    hub = played(big, cutting)
    hub.ranges = False
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path)
    assert done.fetched
    assert content_of(done.fetched.path) == big


async def test_a_page_to_sign_in_to_is_not_taken_for_a_model(big: bytes, tmp_path: Path) -> None:
    async def portal(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        return web.Response(text="<html>Please sign in to the café</html>", content_type="text/html")

    hub = played(big, portal)
    async with hub.open():
        with pytest.raises(FetchFailed, match="by the hub's word") as caught:
            await pulled(hub, "owner/name", tmp_path)
    assert "sign in" in str(caught.value.hint)
