"""`callgate models rm`, `import` and `path`."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path

import pytest
from aiohttp import web

from tests.cli.command import callgate as run
from tests.cli.pulling import callgate, pull
from tests.hub.played_hub import PlayedHub, Repo
from tests.hub.watching import files_in
from tests.runtime.test_ollama_store import MODEL, manifest
from tests.wire.server import serving


@pytest.fixture
def tiny(tiny_gguf: Path) -> bytes:
    return tiny_gguf.read_bytes()


async def test_a_fetched_model_is_removed_whole(tiny: bytes, home: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny, "mmproj-f16.gguf": b"p"}))
    async with hub.open():
        told = (await pull(hub, "--json", "owner/name")).objects[0]
        path = await callgate(hub, "models", "path", "hf:owner/name")
        asked = await callgate(hub, "models", "rm", "hf:owner/name")
        removed = await callgate(hub, "models", "rm", "--yes", "--json", "hf:owner/name")
        gone = await callgate(hub, "models", "rm", "--yes", "hf:owner/name")
    assert path.out.strip() == told["path"]
    assert (asked.status, "--yes" in asked.err) == (2, True)
    assert removed.objects[0]["bytes_freed"] == len(tiny) + 1
    assert [Path(file).name for file in removed.objects[0]["files"]] == ["m.gguf", "mmproj-f16.gguf"]
    assert [line.partition("  ")[0].rpartition("/")[2] for line in asked.err.splitlines()[:2]] == [
        "m.gguf",
        "mmproj-f16.gguf",
    ]
    assert gone.status == 1
    assert not [name for name in files_in(home) if name.endswith(".gguf") or "/blobs/" in name]


async def test_what_is_in_quarantine_is_deleted_there(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        told = (await pull(hub, "--json", "owner/name")).objects[0]
        Path(told["path"]).write_bytes(b"<html>")  # noqa: ASYNC240
        assert (await pull(hub, "owner/name")).status == 1
        done = await callgate(hub, "models", "rm", "--yes", "hf:owner/name")
        entry = (await callgate(hub, "quarantine", "list", "--json")).objects[0]
    assert done.status == 2
    assert f"callgate quarantine delete {entry['id']}" in done.err


async def test_a_file_of_somebody_elses_is_not_removed(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    hub = PlayedHub()
    hub.url = "http://127.0.0.1:1"
    done = await callgate(hub, "models", "rm", "--yes", str(tmp_path / "m.gguf"))
    assert done.status == 2
    assert files_in(tmp_path) == ["m.gguf"]


class ImportingOllama:
    """Takes files and makes models of them; `fails` is what it says instead."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.blobs: dict[str, bytes] = {}
        self.made: dict[str, dict[str, str]] = {}
        self.deleted: list[str] = []

    async def blob(self, request: web.Request) -> web.StreamResponse:
        digest = request.match_info["digest"]
        if request.method == "HEAD":
            return web.Response(status=200 if digest in self.blobs else 404)
        content = b"".join([piece async for piece in request.content.iter_chunked(1 << 16)])
        if f"sha256:{hashlib.sha256(content).hexdigest()}" != digest:
            return web.Response(status=400)
        self.blobs[digest] = content
        return web.Response(status=201)

    async def create(self, request: web.Request) -> web.StreamResponse:
        order = await request.json()
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        steps: list[dict[str, str]] = [{"status": "parsing GGUF"}, {"status": "writing manifest"}]
        steps.append({"error": self.fails} if self.fails else {"status": "success"})
        for step in steps:
            await response.write(json.dumps(step).encode() + b"\n")
        self.made[order["model"]] = order["files"]
        return response

    async def delete(self, request: web.Request) -> web.StreamResponse:
        name = (await request.json())["model"]
        if name not in self.made:
            return web.json_response({"error": f"model {name!r} not found"}, status=404)
        self.deleted.append(name)
        return web.Response()

    def routes(self) -> tuple[tuple[str, str, object], ...]:
        return (
            ("*", "/api/blobs/{digest}", self.blob),
            ("POST", "/api/create", self.create),
            ("DELETE", "/api/delete", self.delete),
        )


async def test_a_file_becomes_a_model_of_an_ollama_once(tiny: bytes, tmp_path: Path) -> None:
    file = tmp_path / "My Model-Q8_0.gguf"
    file.write_bytes(tiny)
    ollama = ImportingOllama()
    async with serving(*ollama.routes()) as url:  # type: ignore[arg-type]
        words = ("models", "import", "--json", str(file))
        first = await asyncio.to_thread(run, *words, OLLAMA_HOST=url)
        second = await asyncio.to_thread(run, *words, "--name", "other:q8", OLLAMA_HOST=url)
        removed = await asyncio.to_thread(run, "models", "rm", "--yes", "other:q8", OLLAMA_HOST=url)
        missing = await asyncio.to_thread(run, "models", "rm", "--yes", "another", OLLAMA_HOST=url)
    digest = f"sha256:{hashlib.sha256(tiny).hexdigest()}"
    assert first.objects == [
        {"ref": "ollama:my-model-q8_0", "path": str(file), "sha256": digest.removeprefix("sha256:")}
    ]
    assert second.status == 0
    assert ollama.blobs == {digest: tiny}
    assert ollama.made == {"my-model-q8_0": {file.name: digest}, "other:q8": {file.name: digest}}
    assert (removed.status, missing.status, ollama.deleted) == (0, 1, ["other:q8"])


async def test_an_ollama_that_fails_says_why(tiny_gguf: Path, tmp_path: Path) -> None:
    async with serving(*ImportingOllama("unknown architecture\x1b[31m").routes()) as url:  # type: ignore[arg-type]
        done = await asyncio.to_thread(run, "models", "import", str(tiny_gguf), OLLAMA_HOST=url)
    assert done.status == 1
    assert "can't make a model of it: unknown architecture" in done.err
    assert "\x1b" not in done.err


def test_no_ollama_is_status_4_and_no_model_is_refused(tiny_gguf: Path, tmp_path: Path) -> None:
    assert run("models", "import", str(tiny_gguf)).status == 4
    (tmp_path / "x.gguf").write_bytes(b"<html>")
    assert run("models", "import", str(tmp_path / "x.gguf")).status == 1
    assert run("models", "import", "--name", "../x", str(tiny_gguf)).status == 2


@pytest.fixture
def store(tiny: bytes, tmp_path: Path) -> Path:
    """The folder of an Ollama that has `tiny`."""
    digest = hashlib.sha256(tiny).hexdigest()
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / f"sha256-{digest}").write_bytes(tiny)
    layer = {"mediaType": MODEL, "digest": f"sha256:{digest}", "size": len(tiny)}
    manifest(tmp_path, "registry.ollama.ai/library/tiny-of-ollama/latest", layer)
    return tmp_path


def test_the_file_of_an_ollamas_model_is_found(store: Path) -> None:
    done = run("models", "path", "tiny-of-ollama", OLLAMA_MODELS=str(store))
    assert done.out.strip() == str(next((store / "blobs").iterdir()))
    assert run("models", "path", "tiny-of-ollama:q4", OLLAMA_MODELS=str(store)).status == 1
    assert run("models", "path", "http://127.0.0.1:1/v1#x", OLLAMA_MODELS=str(store)).status == 2


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_llama_cpp_runs_an_ollamas_model_without_a_copy(store: Path) -> None:
    before = files_in(store)
    path = run("models", "path", "tiny-of-ollama", OLLAMA_MODELS=str(store)).out.strip()
    done = run("ask", f"file:{path}", "Hello!", OLLAMA_MODELS=str(store))
    assert (done.status, bool(done.out.strip())) == (0, True), done.err
    assert files_in(store) == before


@pytest.mark.ollama
def test_a_real_ollama_takes_it(ollama_url: str, tiny_gguf: Path) -> None:
    done = run("models", "import", "--name", "callgate-import", str(tiny_gguf), OLLAMA_HOST=ollama_url)
    assert done.status == 0, done.err
    checked = run("check", "--json", "callgate-import", OLLAMA_HOST=ollama_url)
    assert checked.objects[0]["capabilities"]["architecture"] == "llama"
    assert run("models", "rm", "--yes", "callgate-import", OLLAMA_HOST=ollama_url).status == 0
    assert run("models", "rm", "--yes", "callgate-import", OLLAMA_HOST=ollama_url).status == 1
