from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiohttp import web

from callgate.gateway import Options, catalogue
from callgate.runtime import ModelKnowledge
from callgate.vocabulary import ModelRef
from tests.gateway.running import MULTIPLY, Gateway, PlayedServer, gateway, no_servers
from tests.gateway.upstreams import Upstream, upstreams
from tests.runtime.played import EMBEDDING, WITH_TOOLS, WITHOUT, PlayedOllama
from tests.wire.server import serving

HELLO = [{"role": "user", "content": "hello"}]


async def ids_of(served: Gateway) -> list[str]:
    return [model["id"] for model in (await served.get("/v1/models")).json["data"]]


def again(served: Gateway) -> None:
    """The list is too old from now on."""
    served.app._answering._catalogue._looked_at = 0  # type: ignore[union-attr]


def asked(model: str) -> dict[str, object]:
    return {"model": model, "messages": HELLO}


async def test_models_are_listed_with_what_they_can_do_and_why() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS, plain=WITHOUT, vectors=EMBEDDING)
    async with serving(*ollama.routes) as url, gateway(Options(), no_servers(url)) as served:
        listed = (await served.get("/v1/models")).json["data"]
        modes = {model["id"]: model["callgate"]["mode"] for model in listed}
        here = {"tiny": "native", "tiny-plain": "emulated"}
        assert modes == {"good:latest": "native", "plain:latest": "emulated", "vectors:latest": "off", **here}
        one = (await served.get("/v1/models/good:latest")).json
        assert one["callgate"]["tools"] == "yes"
        assert any(piece["decisive"] for piece in one["callgate"]["evidence"])
        tags = {model["name"]: model["capabilities"] for model in (await served.get("/api/tags")).json["models"]}
        assert tags["plain:latest"] == ["completion", "tools"]
        assert tags["vectors:latest"] == ["embedding"]
        shown = (await served.post("/api/show", {"model": "good"})).json
        assert shown["model_info"]["llama.context_length"] == 8192
        assert "tools" in shown["capabilities"]


async def test_tools_that_are_off_are_not_promised() -> None:
    ollama = PlayedOllama(plain=WITHOUT)
    known = {"tools__unsupported_in_gateway": "off"}
    async with serving(*ollama.routes) as url, gateway(Options(), no_servers(url, **known)) as served:
        assert (await served.post("/api/show", {"model": "plain"})).json["capabilities"] == ["completion"]


async def test_an_unknown_model_is_not_found_and_the_nearest_is_named() -> None:
    ollama = PlayedOllama(qwen3__8b=WITH_TOOLS)
    async with serving(*ollama.routes) as url, gateway(Options(), no_servers(url)) as served:
        openai = await served.post("/v1/chat/completions", asked("qwen3:7b"))
        assert openai.status == 404
        assert openai.json["error"]["code"] == "model_not_found"
        assert "qwen3:8b" in openai.json["error"]["message"]
        ollamas = await served.post("/api/chat", asked("qwen3:7b"))
        assert ollamas.status == 404
        assert ollamas.json["error"].startswith("model 'qwen3:7b' not found")
        assert (await served.get("/v1/models/nothing/of/it")).status == 404
        ollama.models["new"] = WITH_TOOLS
        again(served)  # what somebody has pulled meanwhile is there as soon as the list may be asked for again
        assert (await served.get("/v1/models/new")).status == 200


@pytest.mark.parametrize(
    "name", ["file:/etc/passwd", "/etc/passwd", "http://127.0.0.1:9/v1#x", "ollama+http://127.0.0.1:9#x", "scripted:/x"]
)
async def test_clients_choose_no_files_and_no_servers(name: str) -> None:
    async with gateway() as served:
        assert (await served.post("/v1/chat/completions", asked(name))).status == 404
        assert (await served.post("/v1/embeddings", {"model": name, "input": "x"})).status == 404
        assert (await served.post("/api/show", {"model": name})).status == 404


async def test_models_have_the_names_that_their_owner_gives_them() -> None:
    played = PlayedServer()
    played.go_on.set()
    async with played.served() as url:
        known = no_servers(discovery__endpoints=f"lab={url}/v1")
        async with gateway(Options(aliases={"gpt-4o-mini": f"{url}/v1#slow"}), known) as served:
            answer = await served.post("/v1/chat/completions", asked("gpt-4o-mini"))
            assert answer.status == 200
            assert answer.json["model"] == "gpt-4o-mini"
            assert played.asked[-1]["model"] == "slow"
            assert (await served.post("/v1/chat/completions", asked("slow"))).status == 200
            ids = [model["id"] for model in (await served.get("/v1/models")).json["data"]]
            assert ids[0] == "gpt-4o-mini"
            assert "slow" in ids
            nothing = await served.post("/v1/chat/completions", {"messages": HELLO})
            assert nothing.status == 400
            assert "--model" in nothing.json["error"]["message"]


async def test_where_tools_are_required_others_are_neither_listed_nor_asked() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS, plain=WITHOUT)
    known = {"models__require_tools": True}
    async with serving(*ollama.routes) as url, gateway(Options(), no_servers(url, **known)) as served:
        ids = [model["id"] for model in (await served.get("/v1/models")).json["data"]]
        assert ids == ["good:latest", "tiny"]
        refused = await served.post("/v1/chat/completions", {**asked("plain"), "tools": [MULTIPLY]})
        assert refused.status == 400
        assert "does not support tool calling" in refused.json["error"]["message"]
        for path, body in (
            ("/api/generate", {"model": "plain"}),
            ("/api/embed", {"model": "plain", "input": "x"}),
            ("/api/show", {"model": "plain"}),
        ):
            refused = await served.post(path, body)
            assert (path, refused.status) == (path, 400)
            assert "does not support tool calling" in refused.json["error"]


async def test_where_tools_are_required_a_model_of_which_nothing_is_known_stays_out_until_its_owner_says_yes() -> None:
    upstream = Upstream("lab", model="slow")
    async with upstreams(upstream):
        known = no_servers(discovery__endpoints=f"lab={upstream.url}", models__require_tools=True)
        async with gateway(Options(fallback="tiny"), known) as served:
            assert await ids_of(served) == ["tiny"]
            for path, body in (
                ("/v1/chat/completions", asked("slow")),
                ("/v1/embeddings", {"model": "slow", "input": "x"}),
                ("/api/generate", {"model": "slow"}),
                ("/api/show", {"model": "slow"}),
            ):
                refused = await served.post(path, body)
                assert (path, refused.status) == (path, 400)
                assert "nothing tells whether it supports tool calling" in refused.body.decode()
            assert not upstream.chats
            upstream.part = "fails"
            again(served)
            assert await ids_of(served) == ["tiny"]
            upstream.part = "answers"
        ModelKnowledge(known).say(ModelRef("openai", "slow", upstream.url), tools=True)
        async with gateway(Options(), known) as served:
            assert await ids_of(served) == ["slow", "tiny"]  # and not `tiny-plain`
            assert (await served.post("/v1/chat/completions", asked("slow"))).status == 200
            await upstream.stop()
            assert (await served.post("/v1/chat/completions", asked("slow"))).status == 502


async def test_no_other_model_answers_for_one_that_is_not_let_in() -> None:
    known = no_servers(models__require_tools=True)
    async with gateway(Options(fallback="tiny"), known) as served:
        refused = await served.post("/v1/chat/completions", asked("tiny-plain"))
        assert refused.status == 400
        assert "does not support tool calling" in refused.json["error"]["message"]


async def test_texts_become_vectors_in_every_form() -> None:
    played = PlayedServer()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        openai = (await served.post("/v1/embeddings", {"input": ["a", "b"]})).json
        assert [entry["embedding"] for entry in openai["data"]] == [[0.0, 0.5], [1.0, 0.5]]
        assert openai["usage"] == {"prompt_tokens": 4, "total_tokens": 4}
        packed = (await served.post("/v1/embeddings", {"input": "a", "encoding_format": "base64"})).json
        assert packed["data"][0]["embedding"] == "AAAAAAAAAD8="
        ollama = (await served.post("/api/embed", {"input": "a"})).json
        assert (ollama["embeddings"], ollama["prompt_eval_count"]) == ([[0.0, 0.5]], 2)
        assert (await served.post("/api/embeddings", {"prompt": "a"})).json == {"embedding": [0.0, 0.5]}
        assert (await served.post("/v1/embeddings", {"input": []})).status == 400
        for tokens in ([1, 2], [[1, 2], [3]], ["a", 1]):
            refused = await served.post("/v1/embeddings", {"input": tokens})
            assert refused.status == 400
            assert "tokens can't be embedded" in refused.json["error"]["message"]


async def test_what_is_for_an_ollama_goes_to_it_without_the_clients_key(tmp_path: Path) -> None:
    seen: list[tuple[str, bytes, str | None]] = []

    async def heard(request: web.Request) -> web.StreamResponse:
        seen.append((f"{request.method} {request.path}", await request.read(), request.headers.get("Authorization")))
        return web.Response(body=b'{"status":"success"}\n', content_type="application/x-ndjson", status=201)

    async with (
        serving(("*", "/{path:.*}", heard)) as url,
        gateway(Options(keys=("secret",)), no_servers(url)) as served,
    ):
        key = {"Authorization": "Bearer secret"}
        answer = await served.post("/api/pull", {"model": "x"}, **key)
        assert (answer.status, answer.body) == (201, b'{"status":"success"}\n')
        await served.ask("DELETE", "/api/delete", {"model": "x"}, **key)
        await served.ask("HEAD", "/api/blobs/sha256:00", **key)
    passed = [(what, body) for what, body, _ in seen if not what.startswith("GET ")]
    assert passed == [
        ("POST /api/pull", b'{"model": "x"}'),
        ("DELETE /api/delete", b'{"model": "x"}'),
        ("HEAD /api/blobs/sha256:00", b""),
    ]
    assert all(key is None for *_, key in seen)


async def test_without_an_ollama_that_is_said() -> None:
    async with gateway() as served:
        answer = await served.post("/api/pull", {"model": "x"})
        assert answer.status == 404
        assert "Ollama" in answer.json["error"]
        assert (await served.get("/api/ps")).json == {"models": []}


async def test_a_silent_servers_models_are_known_for_a_while_from_when_it_fell_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [time.monotonic()]
    monkeypatch.setattr(catalogue, "time", SimpleNamespace(monotonic=lambda: now[0], perf_counter=time.perf_counter))
    upstream = Upstream("lab", model="slow")
    async with upstreams(upstream):
        known = no_servers(discovery__endpoints=f"lab={upstream.url}")
        async with gateway(Options(), known) as served:
            assert "slow" in await ids_of(served)
            now[0] += 3 * catalogue.KEPT_SECONDS
            await upstream.stop()
            for _ in range(2):
                assert "slow" in await ids_of(served)
                assert (await served.post("/v1/chat/completions", asked("slow"))).status == 502
                now[0] += 0.4 * catalogue.KEPT_SECONDS
            now[0] += 0.4 * catalogue.KEPT_SECONDS
            assert "slow" not in await ids_of(served)
            assert (await served.post("/v1/chat/completions", asked("slow"))).status == 404


async def test_a_server_that_answers_chats_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [time.monotonic()]
    monkeypatch.setattr(catalogue, "time", SimpleNamespace(monotonic=lambda: now[0], perf_counter=time.perf_counter))
    upstream = Upstream("lab", model="slow")
    async with upstreams(upstream):
        known = no_servers(discovery__endpoints=f"lab={upstream.url}")
        async with gateway(Options(), known) as served:
            assert "slow" in await ids_of(served)
            upstream.part = "lists nothing"
            for _ in range(4):
                now[0] += 0.6 * catalogue.KEPT_SECONDS
                assert "slow" in await ids_of(served)
                assert (await served.post("/v1/chat/completions", asked("slow"))).status == 200


async def test_what_is_passed_on_to_an_ollama_is_seen_in_the_next_list() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS)

    async def changed(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if request.path == "/api/copy":
            ollama.models[body["destination"]] = ollama.models[body["source"]]
        else:
            del ollama.models[body["model"]]
        return web.Response()

    changes = (("POST", "/api/copy", changed), ("DELETE", "/api/delete", changed))
    async with serving(*changes, *ollama.routes) as url, gateway(Options(), no_servers(url)) as served:
        assert await ids_of(served) == ["good:latest", "tiny", "tiny-plain"]
        assert (await served.post("/api/copy", {"source": "good", "destination": "other"})).status == 200
        assert await ids_of(served) == ["good:latest", "other:latest", "tiny", "tiny-plain"]
        assert (await served.ask("DELETE", "/api/delete", {"model": "other"})).status == 200
        assert await ids_of(served) == ["good:latest", "tiny", "tiny-plain"]


async def test_models_are_as_old_as_their_ollama_says() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS)
    ollama.modified["good"] = "2026-03-04T14:00:00.123456789+02:00"
    async with serving(*ollama.routes) as url, gateway(Options(), no_servers(url)) as served:
        tags = {model["name"]: model["modified_at"] for model in (await served.get("/api/tags")).json["models"]}
        assert tags["good:latest"] == "2026-03-04T12:00:00.123456Z"
        assert (await served.get("/v1/models/good:latest")).json["created"] == 1772625600
