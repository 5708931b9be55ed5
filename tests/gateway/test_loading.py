from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from callgate.gateway import Options
from tests.gateway.running import PlayedServer, gateway, no_servers
from tests.runtime.played import WITH_TOOLS, PlayedOllama
from tests.wire.server import serving

SILENT = [("/api/chat", {"messages": []}), ("/api/chat", {}), ("/api/generate", {}), ("/api/generate", {"prompt": ""})]


class LoadingOllama(PlayedOllama):
    """Notes what it is told to load, and to drop."""

    def __init__(self) -> None:
        super().__init__(good=WITH_TOOLS)
        self.told: list[dict[str, Any]] = []

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/api/generate":
            self.told.append(await request.json())
            return web.json_response({"response": "", "done": True, "done_reason": "load"})
        return await super()._answer(request)


@pytest.mark.parametrize(("path", "silent"), SILENT)
async def test_an_ollama_is_told_to_load_and_to_unload_its_models(path: str, silent: dict[str, object]) -> None:
    ollama = LoadingOllama()
    async with serving(*ollama.routes) as url, gateway(Options(), no_servers(url)) as served:
        asked = {"model": "good", "options": {"num_ctx": 512}, **silent}
        loaded = await served.post(path, asked)
        assert (loaded.status, loaded.json["done_reason"]) == (200, "load")
        for nothing in (0, "0", "0s", "0h0m0s", 0.0):
            gone = await served.post(path, {**asked, "keep_alive": nothing})
            assert (gone.status, gone.json["done_reason"]) == (200, "unload")
    assert ollama.told[0] == {"model": "good:latest", "stream": False, "options": {"num_ctx": 512}}
    assert [told["keep_alive"] for told in ollama.told[1:]] == [0, "0", "0s", "0h0m0s", 0.0]


async def test_what_an_ollama_cannot_do_is_not_claimed() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS)
    async with serving(*ollama.routes) as url, gateway(Options(), no_servers(url)) as served:
        assert (await served.get("/api/tags")).status == 200
        assert (await served.post("/api/generate", {"model": "good", "keep_alive": 0})).status == 404


async def test_our_own_engine_loads_and_unloads_what_it_is_told_to() -> None:
    async with gateway() as served:
        assert (await served.get("/api/ps")).json == {"models": []}
        loaded = await served.post("/api/generate", {"model": "tiny"})
        assert (loaded.status, loaded.json["done_reason"]) == (200, "load")
        (running,) = (await served.get("/api/ps")).json["models"]
        assert running["name"] == "tiny"
        assert running["size"] > 1_000_000
        assert running["context_length"] >= 512
        for path in ("/api/generate", "/api/chat"):  # there may be nothing to unload
            gone = await served.post(path, {"model": "tiny", "keep_alive": 0})
            assert (gone.status, gone.json["done_reason"]) == (200, "unload")
            assert (await served.get("/api/ps")).json == {"models": []}
        again = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}], "stream": False}
        assert (await served.post("/api/chat", again)).status == 200
        assert [model["name"] for model in (await served.get("/api/ps")).json["models"]] == ["tiny"]


async def test_other_servers_see_to_it_themselves() -> None:
    played = PlayedServer()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        assert (await served.post("/api/generate", {})).json["done_reason"] == "load"
        assert (await served.post("/api/generate", {"keep_alive": "0s"})).status == 409
    assert not played.asked
