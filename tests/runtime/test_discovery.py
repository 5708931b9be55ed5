from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callgate.runtime import places
from callgate.runtime.discovery import Discovery, discover, discover_async
from callgate.settings import Settings
from callgate.vocabulary import BadAnswer, BadStatus, ModelRef, Unreachable
from tests.runtime.played import (
    NOBODY,
    WITH_TOOLS,
    PlayedOllama,
    hangs,
    in_thread,
    knows_nothing,
    model,
    refuses,
    sends_a_list,
    settings,
    talks_garbage,
)
from tests.wire.server import Handler, serving

TINY = ModelRef("tiny", "tiny")


@pytest.fixture(autouse=True)
def _no_servers_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(places, "_KNOWN", {})
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "nowhere"))


def lists(*names: Any, owner: str = "", **headers: str) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path != "/v1/models":
            return web.Response(status=404)
        data = [{"id": name, "object": "model", **({"owned_by": owner} if owner else {})} for name in names]
        return web.json_response({"object": "list", "data": data}, headers=headers)

    return answer


def everything(handler: Handler) -> tuple[str, str, Handler]:
    return "*", "/{path:.*}", handler


async def found_at(*handlers: Handler, **overrides: object) -> Discovery:
    """With these servers among the settings' endpoints, named a, b, c …"""
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(serving(everything(handler))) for handler in handlers]
        named = ",".join(f"{name}={url}" for name, url in zip("abcdef", urls, strict=False))
        chosen = settings(NOBODY, discovery__endpoints=named, discovery__timeout=10, **overrides)
        return await discover_async(chosen)


def refs(found: Discovery) -> list[str]:
    return [str(model.ref) for model in found.models]


async def test_where_nobody_is_there_is_the_model_in_the_box() -> None:
    found = await discover_async(Settings())
    assert [model.ref for model in found.models] == [TINY]
    assert found.models[0].size == 11_633_184
    assert found.problems == ()


def test_nothing_heavy_is_loaded_where_nobody_answers() -> None:
    program = (
        "import sys\n"
        "from callgate.runtime import discover, places\n"
        "from callgate.settings import load_settings\n"
        "places._KNOWN = {}\n"
        "discover(load_settings({'ollama.host': '127.0.0.1:1'}))\n"
        "print([name for name in ('aiohttp', 'asyncio', 'ssl') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=True)
    assert done.stdout == b"[]\n"


def test_the_models_of_the_local_ollama_have_no_address() -> None:
    ollama = PlayedOllama(a=WITH_TOOLS, b__1=model())
    with in_thread(*ollama.routes) as url:
        found = discover(settings(url, discovery__timeout=10))
    assert refs(found) == ["ollama:a:latest", "ollama:b:1", "tiny"]
    first = found.models[0]
    assert (first.backend, first.place, first.endpoint, first.digest) == ("ollama", "Ollama", url, "d1")
    assert ollama.asked == {"/api/tags": 1}


async def test_an_ollama_elsewhere_has_its_address_in_the_name() -> None:
    async with serving(*PlayedOllama(a=WITH_TOOLS).routes) as url:
        chosen = settings(NOBODY, discovery__endpoints=f"den=ollama+{url}", discovery__timeout=10)
        found = await discover_async(chosen)
    assert refs(found) == [f"ollama+{url}#a:latest", "tiny"]
    assert found.models[0].place == "den"


async def test_an_ollama_is_recognised_even_if_nobody_said_so() -> None:
    ollama = PlayedOllama(a=WITH_TOOLS)

    async def answer(request: web.Request) -> web.StreamResponse:
        return await (lists("a:latest")(request) if request.path == "/v1/models" else ollama._answer(request))

    found = await found_at(answer)
    assert [model.ref.scheme for model in found.models] == ["ollama", "tiny"]


async def test_servers_list_their_models_in_the_order_of_the_settings() -> None:
    found = await found_at(lists("x", "y", owner="llamacpp"), lists("z", owner="vllm"))
    assert [model.name for model in found.models] == ["x", "y", "z", "tiny"]
    assert [model.place for model in found.models][:3] == ["a", "a", "b"]
    assert found.models[0].ref.endpoint == found.models[0].endpoint
    assert str(found.models[0].ref).endswith("/v1#x")


async def test_who_is_at_a_known_port_is_called_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(everything(lists("x", owner="vllm"))) as url:
        monkeypatch.setattr(places, "_KNOWN", {"llama-server": int(url.rpartition(":")[2])})
        found = await discover_async(settings(discovery__timeout=10, ollama__host="127.0.0.1:1"))
    assert [model.place for model in found.models][:1] == ["vLLM"]


@pytest.mark.parametrize("header", [{"X-Callgate": "0.1"}, {"Server": "callgate/0.1"}])
async def test_a_server_of_ours_is_listed_only_where_it_was_named(
    header: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await found_at(lists("x", **header))
    assert [model.name for model in found.models] == ["x", "tiny"]
    async with serving(everything(lists("x", **header))) as url:
        for_others = settings(url, discovery__timeout=10)  # as OLLAMA_HOST: other programs are to find us there
        assert refs(await discover_async(for_others)) == ["tiny"]
        monkeypatch.setattr(places, "_KNOWN", {"vLLM": int(url.rpartition(":")[2])})
        by_chance = await discover_async(settings(NOBODY, discovery__timeout=10))
    assert refs(by_chance) == ["tiny"]
    assert len(by_chance.problems) == 1  # nobody is where Ollama was named


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (knows_nothing, BadStatus),
        (refuses, BadStatus),
        (talks_garbage, BadAnswer),
        (sends_a_list, BadAnswer),
    ],
)
async def test_a_server_that_fails_is_a_problem_only_where_it_was_named(
    fault: Handler, problem: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await found_at(fault, lists("x"))
    assert [model.name for model in found.models] == ["x", "tiny"]
    assert [type(one) for one in found.problems] == [Unreachable, problem]
    async with serving(everything(fault)) as url:
        monkeypatch.setattr(places, "_KNOWN", {"vLLM": int(url.rpartition(":")[2])})
        assert (await discover_async(settings(discovery__timeout=10))).problems == ()


async def test_nobody_waits_for_a_server_that_hangs() -> None:
    async with serving(everything(hangs)) as url:
        found = await discover_async(settings(NOBODY, discovery__endpoints=f"a={url}", discovery__timeout=0.05))
    assert refs(found) == ["tiny"]
    assert isinstance(found.problems[1], Unreachable)


async def test_servers_are_asked_at_once() -> None:
    together = asyncio.Barrier(3)

    def meets(name: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(request: web.Request) -> web.StreamResponse:
            if request.path == "/v1/models":
                await together.wait()
            return await lists(name, owner="vllm")(request)

        return answer

    found = await found_at(meets("x"), meets("y"), meets("z"))
    assert [model.name for model in found.models] == ["x", "y", "z", "tiny"]


async def test_names_that_nobody_could_type_are_left_out() -> None:
    odd = ["", "two words", "esc\x1b[31m", 3, None, {"id": "x"}, "n" * 600, "fine", "hash#tag"]
    found = await found_at(lists(*odd, owner="vllm"))
    assert [model.name for model in found.models] == ["fine", "hash#tag", "tiny"]


async def test_an_endless_list_has_an_end() -> None:
    found = await found_at(lists(*(f"m{number}" for number in range(3000)), owner="vllm"))
    assert len(found.models) == 1001


def test_endpoints_that_are_given_are_all_that_is_asked(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with in_thread(everything(lists("x", owner="vllm"))) as url:
        found = discover(settings(models__dir=str(tmp_path), discovery__timeout=10), [url, NOBODY])
    assert [model.name for model in found.models] == ["x"]
    assert [type(problem) for problem in found.problems] == [Unreachable]


def stored(folder: Path, name: str) -> str:
    """A model in an Ollama's folder; gives the digest that it knows it by."""
    content = f"GGUF {name}".encode()
    digest = hashlib.sha256(content).hexdigest()
    (folder / "blobs").mkdir(parents=True, exist_ok=True)
    (folder / "blobs" / f"sha256-{digest}").write_bytes(content)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}"}
    manifest = json.dumps({"layers": [layer]}).encode()
    path = folder / "manifests" / "registry.ollama.ai" / "library" / name / "latest"
    path.parent.mkdir(parents=True)
    path.write_bytes(manifest)
    return hashlib.sha256(manifest).hexdigest()


def test_a_model_that_ollama_serves_is_not_listed_as_a_file_again(tmp_path: Path) -> None:
    digest = stored(tmp_path, "both")
    stored(tmp_path, "changed")
    stored(tmp_path, "left")
    ollama = PlayedOllama(other=model(digest=digest), changed=model(digest="new"))
    with in_thread(*ollama.routes) as url:
        found = discover(settings(url, discovery__timeout=10, ollama__models=str(tmp_path)))
    assert [model.name for model in found.models] == ["other:latest", "changed:latest", "left:latest", "tiny"]
    assert found.models[2].ref.scheme == "file"


@pytest.mark.ollama
def test_a_real_ollama_tells_its_models(ollama_url: str) -> None:
    found = discover(settings(ollama_url, discovery__timeout=10))
    (tiny, *_) = [model for model in found.models if model.name == "tiny:latest"]
    assert tiny.size
    assert tiny.digest
    assert len(tiny.digest) == 64
