from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from email.utils import formatdate
from pathlib import Path

import pytest
from aiohttp import web

from callgate.hub.client import HubClient
from callgate.hub.records import HubFile, Repository
from callgate.vocabulary import (
    BadAnswer,
    BadStatus,
    CallgateError,
    HubRef,
    LicenceNotAccepted,
    NoSuchRepo,
    NotFound,
    NoToken,
    TokenDenied,
    Unreachable,
    UsageError,
)
from callgate.wire import HttpClient
from tests.hub.played_hub import COMMIT, TOKEN, PlayedHub, Repo, refused
from tests.hub.watching import Watching, content_of, files_in, hub_settings, pulled
from tests.runtime.played import NOBODY, settings
from tests.wire.server import serving


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient() as client:
        yield client


def client(hub: PlayedHub, http: HttpClient, token: str | None = None) -> HubClient:
    return HubClient(settings(hub__endpoint=hub.url, **({"hub__token": token} if token else {})), http)


# Who may have it


@pytest.mark.parametrize(
    ("name", "token", "kind", "words"),
    [
        ("owner/gated", None, NoToken, ("gated", "HF_TOKEN", "hf auth login", "/owner/gated")),
        ("owner/gated", "hf_wrong", TokenDenied, ("doesn't accept your token",)),
        ("owner/gated", TOKEN, LicenceNotAccepted, ("accept its licence", "/owner/gated")),
        ("owner/manual", TOKEN, LicenceNotAccepted, ("have yet to answer your request", "/owner/manual")),
        ("owner/private", None, NoSuchRepo, ("no repository 'owner/private'", "or it is private", "HF_TOKEN")),
        ("owner/name", "hf_wrong", TokenDenied, ("doesn't accept your token",)),
        ("owner/nmae", None, NoSuchRepo, ("no repository 'owner/nmae'", "or it is private", "'owner/name'")),
        ("owner/nmae", TOKEN, NoSuchRepo, ("or your token may not see it", "'owner/name'")),
        ("owner/name@v9", None, NotFound, ("no revision 'v9'",)),
        ("owner/name/other.gguf", None, NotFound, ("no file 'other.gguf'", "--list")),
    ],
)
async def test_each_reason_has_its_name_and_comes_before_anything_is_fetched(
    tiny: bytes, tmp_path: Path, name: str, token: str | None, kind: type[CallgateError], words: tuple[str, ...]
) -> None:
    hub = PlayedHub(
        owner__name=Repo({"m.gguf": tiny}),
        owner__gated=Repo({"m.gguf": tiny}, gated="auto", accepted=False),
        owner__manual=Repo({"m.gguf": tiny}, gated="manual", accepted=False),
        owner__private=Repo({"m.gguf": tiny}, private=True),
    )
    async with hub.open():
        with pytest.raises(kind) as caught:
            await pulled(hub, name, tmp_path, hub__token=token)
    assert type(caught.value) is kind
    said = f"{caught.value.message} {caught.value.hint}"
    assert all(word in said for word in words), said
    assert "hf_" not in said.replace("hf_hub", "")
    assert hub.sent == 0
    assert files_in(tmp_path) == []


async def test_who_may_have_it_gets_it(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(
        owner__gated=Repo({"m.gguf": tiny}, gated="manual"), owner__private=Repo({"m.gguf": tiny}, private=True)
    )
    async with hub.open():
        for name in ("owner/gated", "owner/private"):
            assert (await pulled(hub, name, tmp_path, hub__token=TOKEN)).fetched


async def test_a_token_without_the_right_to_read_is_denied(tiny: bytes, tmp_path: Path) -> None:
    words = "Please enable access to public gated repositories in your fine-grained token settings\x1b[31m"

    async def forbid(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        return refused(403, "", words.replace("\x1b", "")) if "/resolve/" in request.path else None

    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    hub.api_fault = forbid
    async with hub.open():
        with pytest.raises(TokenDenied, match="may not read 'owner/name': Please enable access"):
            await pulled(hub, "owner/name", tmp_path, hub__token=TOKEN)


async def test_the_token_stays_with_the_hub_and_is_written_nowhere(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        await pulled(hub, "owner/name", tmp_path, hub__token=TOKEN)
    assert hub.stored
    assert all("Authorization" not in request.headers for request in hub.stored)
    assert {request.headers["Authorization"] for request in hub.requests} == {f"Bearer {TOKEN}"}
    for name in files_in(tmp_path):
        assert TOKEN.encode() not in content_of(str(tmp_path / name))


async def test_the_token_goes_along_within_the_hub(tiny: bytes, tmp_path: Path) -> None:
    async def moved(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        if request.path.startswith("/old/"):
            raise web.HTTPTemporaryRedirect(request.path_qs.replace("/old/", "/owner/"))
        if request.path.startswith("/api/models/old/"):
            raise web.HTTPTemporaryRedirect(request.path_qs.replace("/old/", "/owner/"))
        return None

    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}, private=True))
    hub.api_fault = moved
    async with hub.open():
        done = await pulled(hub, "old/name", tmp_path, hub__token=TOKEN)
    assert done.fetched
    assert all(request.headers.get("Authorization") for request in hub.requests)


async def test_the_token_does_not_follow_to_another_hub(tiny: bytes, http: HttpClient) -> None:
    seen: list[web.Request] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        return web.Response(headers={"ETag": '"abc"', "Content-Length": "7"})

    async def away(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        raise web.HTTPFound(f"{other}{request.path}")

    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    hub.api_fault = away
    async with hub.open(), serving(("*", "/{path:.*}", elsewhere)) as other:
        repository = Repository(id="owner/name", revision="main", commit=COMMIT)
        location = await client(hub, http, TOKEN).locate(repository, HubFile("m.gguf", 7))
    assert [request.headers.get("Authorization") for request in seen] == [None]
    assert not location.is_at_the_hub


async def test_a_token_that_was_logged_in_with_is_used(
    tiny: bytes, http: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: TOKEN)
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}, private=True))
    async with hub.open():
        assert (await client(hub, http).repository(HubRef("owner/name"))).private


# A hub that stumbles, or lies


def stumbling(times: int, headers: dict[str, str] | None = None) -> tuple[PlayedHub, list[str]]:
    asked: list[str] = []

    async def fault(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        asked.append(request.path)
        if asked.count(request.path) > times:
            return None
        status = 429 if headers else 503
        return web.Response(status=status, headers=headers)

    hub = PlayedHub(owner__name=Repo({"m.gguf": b"content"}))
    hub.api_fault = fault
    return hub, asked


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Retry-After": "0"},
        {"Retry-After": formatdate(time.time() - 5, usegmt=True)},
        {"RateLimit": '"api";r=0;t=0'},
        {"Retry-After": "soon"},
    ],
)
async def test_a_hub_that_stumbles_is_asked_again(http: HttpClient, headers: dict[str, str]) -> None:
    hub, asked = stumbling(2, headers)
    async with hub.open():
        asking = client(hub, http)
        repository = await asking.repository(HubRef("owner/name"))
        location = await asking.locate(repository, repository.file("m.gguf"))
    assert location.expected.size == 7
    assert len(asked) == 6


async def test_a_hub_that_stays_down_is_given_up(http: HttpClient) -> None:
    hub, asked = stumbling(100)
    async with hub.open():
        with pytest.raises(BadStatus, match="status 503") as caught:
            await client(hub, http).repository(HubRef("owner/name"))
    assert caught.value.hint
    assert len(asked) == 4


async def test_a_hub_that_wants_us_to_wait_for_long_is_left_to_the_user(http: HttpClient) -> None:
    hub, asked = stumbling(100, {"Retry-After": "3000"})
    async with hub.open():
        with pytest.raises(BadStatus, match="too many questions") as caught:
            await client(hub, http).repository(HubRef("owner/name"))
    assert "in 3000 s" in str(caught.value.hint)
    assert len(asked) == 1


async def test_no_hub_is_unreachable(http: HttpClient) -> None:
    with pytest.raises(Unreachable, match="can't be reached"):
        await HubClient(settings(hub__endpoint=NOBODY), http).repository(HubRef("owner/name"))


@pytest.mark.parametrize(
    "body",
    [
        *("", "<html>", "[]", "{}", '{"id": 3}', '{"id": "x", "siblings": 7}', '{"id": "x", "sha": 5, "siblings": []}'),
        *(f'{{"id": "x", "sha": "c", "siblings": [{{"rfilename": {name}}}]}}' for name in ("5", "null", '["m"]')),
    ],
)
async def test_what_is_no_hub_says_so(http: HttpClient, body: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(text=body, content_type="application/json")

    async with serving(("*", "/{path:.*}", answer)) as url:
        with pytest.raises(BadAnswer):
            await HubClient(settings(hub__endpoint=url), http).repository(HubRef("owner/name"))


async def test_files_that_lead_astray_are_left_out(http: HttpClient) -> None:
    listed = ["../../x.gguf", "/etc/x.gguf", "a/../b.gguf", "..\\x.gguf", "x\x1b[31m.gguf", "a//b.gguf", "good.gguf"]
    hub = PlayedHub(owner__name=Repo({"good.gguf": b"x"}, listed=listed))
    async with hub.open():
        repository = await client(hub, http).repository(HubRef("owner/name"))
    assert (repository.names, repository.left_out) == (["good.gguf"], 6)


@pytest.mark.parametrize("lie", [{"size": 3}, {"sha256": "b" * 64}])
async def test_a_hub_that_contradicts_itself_is_caught(http: HttpClient, lie: dict[str, object]) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": b"content"}))
    async with hub.open():
        asking = client(hub, http)
        repository = await asking.repository(HubRef("owner/name"))
        hub.repos["owner/name"].lies["m.gguf"] = lie
        with pytest.raises(BadAnswer, match="contradicts itself"):
            await asking.locate(repository, repository.file("m.gguf"))


@pytest.mark.parametrize(
    "ref",
    [
        HubRef("../name"),
        HubRef("owner/.."),
        HubRef("owner/name", file="../../x.gguf"),
        HubRef("owner/name", revision="../../../etc"),
        HubRef("owner/name", revision="/etc/x"),
    ],
)
async def test_a_ref_that_leads_astray_is_refused_before_anybody_is_asked(http: HttpClient, ref: HubRef) -> None:
    hub = PlayedHub()
    async with hub.open():
        with pytest.raises(UsageError, match="can't be a part of a model's name"):
            await client(hub, http).repository(ref)
    assert hub.requests == []


async def test_a_name_that_the_hub_would_not_take_is_wrong_usage(http: HttpClient) -> None:
    hub = PlayedHub()
    async with hub.open():
        with pytest.raises(UsageError, match="can't be the name of a repository"):
            await client(hub, http).repository(HubRef("owner/na--me"))


async def test_the_hub_is_told_who_asks(http: HttpClient) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": b"x"}))
    async with hub.open():
        await client(hub, http).repository(HubRef("owner/name"))
    assert "callgate/" in hub.requests[-1].headers["User-Agent"]


async def test_a_summary_that_does_not_come_is_asked_for_once(
    tiny: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, asked = asyncio.Event(), []

    async def stuck(request: web.Request, hub: PlayedHub) -> web.StreamResponse | None:
        if "expand" in request.query:
            asked.append(request)
            await release.wait()
        return None

    monkeypatch.setattr("callgate.hub.pulling.SUMMARY_SECONDS", 0.0)
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    hub.api_fault = stuck
    watching = Watching()
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, watching=watching)
        release.set()
    assert (done.verdict, done.looked.hint.word) == ("yes", "unknown")
    assert len(asked) <= 1


async def test_a_summary_is_a_hint_and_no_more(http: HttpClient, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": b"x"}))
    async with hub.open():
        asking = HubClient(hub_settings(hub, tmp_path), http)
        repository = await asking.repository(HubRef("owner/name"))
        assert await asking.summary(repository) is None
        hub.repos["owner/name"].gguf = {"chat_template": ["no", "text"], "context_length": "long"}
        summary = await asking.summary(repository)
    assert summary
    assert (summary.chat_template, summary.context_length) == (None, None)
