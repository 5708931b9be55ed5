from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from callgate.gateway import Options
from tests.gateway.running import Gateway, PlayedServer, gateway, no_servers
from tests.runtime.played import WITH_TOOLS, PlayedOllama
from tests.wire.server import serving


class OllamaWithModels(PlayedOllama):
    """Says of what is passed on to it that it was done."""

    def __init__(self, **models: dict[str, Any]) -> None:
        super().__init__(**models)
        self.told: list[tuple[str, Any]] = []

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        what = request.path.removeprefix("/api/")
        if what in ("pull", "push", "create", "copy", "delete") or what.startswith("blobs"):
            self.told.append((what, await request.read() if "blobs" in what else await request.json()))
            return web.json_response({"status": "success"})
        return await super()._answer(request)


class SilentOllama:
    """Takes what it is sent, and says nothing."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.news = asyncio.Event()
        self.was_left = asyncio.Event()

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._hear, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def until(self, words: bytes) -> None:
        async with asyncio.timeout(20):
            while words not in self.heard:
                self.news.clear()
                await self.news.wait()

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65_536):
                self.heard += piece
                self.news.set()
        except ConnectionError:
            pass
        self.was_left.set()
        writer.close()


async def leave(served: Gateway, ollama: SilentOllama, head: str, body: bytes) -> None:
    """Asks, and goes as soon as the Ollama has heard it."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"{head}\r\nHost: {host}\r\n\r\n".encode() + body)
    await ollama.until(body)
    writer.close()
    async with asyncio.timeout(20):
        await ollama.was_left.wait()


async def counted(served: Gateway) -> str:
    """When it is over."""
    async with asyncio.timeout(20):
        while "callgate_requests_in_flight 1\n" not in (written := (await served.get("/metrics")).body.decode()):
            pass
    return written


async def test_an_ollama_that_says_nothing_is_left_when_the_client_goes() -> None:
    ollama = SilentOllama()
    async with ollama.served() as url, gateway(None, no_servers(url)) as served:
        await leave(served, ollama, "POST /api/pull HTTP/1.1\r\nContent-Length: 13", b'{"model":"x"}')
        assert 'status="499"} 1' in await counted(served)


async def test_an_upload_that_the_client_breaks_off_is_not_the_servers_fault() -> None:
    ollama = SilentOllama()
    async with ollama.served() as url, gateway(None, no_servers(url)) as served:
        digest = "0" * 64
        head = f"POST /api/blobs/sha256:{digest} HTTP/1.1\r\nContent-Length: 1000"
        await leave(served, ollama, head, b"the first part")
        assert 'status="499"} 1' in await counted(served)


ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "pull": ("POST", {"model": "NAME"}),
    "push": ("POST", {"name": "NAME"}),
    "create": ("POST", {"model": "mine", "from": "NAME"}),
    "copy": ("POST", {"source": "NAME", "destination": "mine"}),
    "delete": ("DELETE", {"model": "NAME"}),
}


def named(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: name if value == "NAME" else value for key, value in body.items()}


@pytest.mark.parametrize("what", ASKED)
async def test_what_is_for_an_ollama_goes_to_the_one_that_has_the_model(what: str) -> None:
    first, second, other = OllamaWithModels(a=WITH_TOOLS), OllamaWithModels(b=WITH_TOOLS), PlayedServer()
    async with serving(*first.routes) as one, serving(*second.routes) as two, other.served() as third:
        endpoints = f"upstream 1={third}/v1,upstream 2=ollama+{one},upstream 3=ollama+{two}"
        async with gateway(None, no_servers(discovery__endpoints=endpoints)) as served:
            method, body = ASKED[what]
            for name in ("b", "b:latest", "a", "new"):
                answer = await served.ask(method, f"/api/{what}", named(body, name))
                assert (answer.status, answer.json) == (200, {"status": "success"})
            assert first.told == [(what, named(body, name)) for name in ("a", "new")]
            assert second.told == [(what, named(body, name)) for name in ("b", "b:latest")]


async def test_what_is_uploaded_goes_where_a_model_is_made_of_it() -> None:
    first, second = OllamaWithModels(a=WITH_TOOLS), OllamaWithModels(mine=WITH_TOOLS)
    async with serving(*first.routes) as one, serving(*second.routes) as two:
        endpoints = f"upstream 1=ollama+{one},upstream 2=ollama+{two}"
        async with gateway(None, no_servers(discovery__endpoints=endpoints)) as served:
            digest = f"sha256:{'0' * 64}"
            assert (await served.post(f"/api/blobs/{digest}", b"GGUF")).status == 200
            body = {"model": "mine", "files": {"x.gguf": digest}}
            assert (await served.post("/api/create", body)).status == 200
            assert first.told == [(f"blobs/{digest}", b"GGUF"), ("create", body)]
            assert second.told == []


async def test_the_ollama_of_ollama_host_is_the_first_of_those_that_answer() -> None:
    first, second = OllamaWithModels(), OllamaWithModels()
    async with serving(*second.routes) as two:
        endpoints = f"upstream 1=ollama+{two}"
        async with (
            serving(*first.routes) as one,
            gateway(None, no_servers(one, discovery__endpoints=endpoints)) as served,
        ):
            await served.post("/api/pull", {"model": "new"})
        async with gateway(None, no_servers(one, discovery__endpoints=endpoints)) as served:
            await served.post("/api/pull", {"model": "newer"})
        assert (first.told, second.told) == ([("pull", {"model": "new"})], [("pull", {"model": "newer"})])


async def test_what_every_ollama_has_loaded_is_told() -> None:
    first, second, other = OllamaWithModels(a=WITH_TOOLS), OllamaWithModels(b=WITH_TOOLS), PlayedServer()
    first.running, second.running = {"a:latest": 4096}, {"b:latest": 8192}
    async with serving(*first.routes) as one, serving(*second.routes) as two, other.served() as third:
        endpoints = f"upstream 1={third}/v1,upstream 2=ollama+{two}"
        async with gateway(None, no_servers(one, discovery__endpoints=endpoints)) as served:
            running = (await served.get("/api/ps")).json["models"]
            assert [(model["name"], model["context_length"]) for model in running] == [
                ("a:latest", 4096),
                ("b:latest", 8192),
            ]


async def test_without_an_ollama_it_is_said_that_there_is_none() -> None:
    other = PlayedServer()
    async with other.served() as url, gateway(None, no_servers(discovery__endpoints=f"one={url}/v1")) as served:
        answer = await served.post("/api/pull", {"model": "new"})
        assert answer.status == 404
        assert "none behind" in answer.json["error"]


@pytest.mark.parametrize("what", ["push", "copy", "delete"])
async def test_an_ollamas_model_is_not_touched_under_a_name_of_ours(what: str) -> None:
    ollama = OllamaWithModels(tiny=WITH_TOOLS, gpt=WITH_TOOLS, good=WITH_TOOLS)
    async with serving(*ollama.routes) as url, gateway(Options(aliases={"gpt": "good"}), no_servers(url)) as served:
        method, body = ASKED[what]
        for name in ("tiny", "gpt"):
            answer = await served.ask(method, f"/api/{what}", named(body, name))
            assert answer.status == 400
            assert f"'{name}' is callgate's here" in answer.json["error"]
            assert f"'{name}:latest'" in answer.json["error"]
        assert ollama.told == []
        for name in ("tiny:latest", "gpt:latest", "good", "nobody"):
            assert (await served.ask(method, f"/api/{what}", named(body, name))).status == 200
        assert len(ollama.told) == 4


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model":7}', b"[" * 100_000, b'{"model":""}'])
async def test_what_names_no_model_is_for_the_ollama_to_judge(body: bytes) -> None:
    class Judge(OllamaWithModels):
        async def _answer(self, request: web.Request) -> web.StreamResponse:
            if request.path == "/api/delete":
                return web.json_response({"error": f"{len(await request.read())} bytes"}, status=400)
            return await super()._answer(request)

    async with serving(*Judge().routes) as url, gateway(None, no_servers(url)) as served:
        answer = await served.ask("DELETE", "/api/delete", body)
        assert (answer.status, answer.json) == (400, {"error": f"{len(body)} bytes"})
