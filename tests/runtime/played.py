"""Servers that play a part on loopback: an Ollama that counts what it is asked and fails on demand, and a thread to
run any of them in, for what has no event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from callgate.settings import Settings, load_settings
from tests.detect.template.samples import SAMPLES
from tests.wire.server import Handler, serving

TOOLS = SAMPLES["tools and calls"].source
PLAIN = SAMPLES["plain"].source
NOBODY = "http://127.0.0.1:1"


def model(
    *capabilities: str, template: str = PLAIN, context: int = 8192, digest: str = "d1", **more: object
) -> dict[str, Any]:
    """What an Ollama knows of one model: its answer to /api/show, and the digest of its entry in /api/tags."""
    return {
        "digest": digest,
        "capabilities": list(capabilities),
        "template": template,
        "details": {"family": "llama", "parameter_size": "8B", "quantization_level": "Q4_K_M"},
        "model_info": {"general.architecture": "llama", "llama.context_length": context},
        **more,
    }


WITH_TOOLS = model("completion", "tools", template=TOOLS)
WITHOUT = model("completion")
EMBEDDING = model("embedding", model_info={"bert.context_length": 512, "bert.pooling_type": 1})


class PlayedOllama:
    """Has `models`, by name; `fault`, where it is set, answers everything instead."""

    def __init__(self, **models: dict[str, Any]) -> None:
        self.models = {name.replace("__", ":"): told for name, told in models.items()}
        self.running: dict[str, int] = {}
        """The context that a model is loaded with, by name."""
        self.modified: dict[str, str] = {}
        """When a model was changed, by name, where that is told."""
        self.asked: Counter[str] = Counter()
        self.fault: Handler | None = None
        self.gate: asyncio.Event | None = None
        """Answers wait for it."""
        self._news = asyncio.Event()

    async def until_asked(self, path: str, times: int = 1) -> None:
        while self.asked[path] < times:
            self._news.clear()
            await self._news.wait()

    @property
    def routes(self) -> tuple[tuple[str, str, Handler], ...]:
        return (("*", "/{path:.*}", self._answer),)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] += 1
        self._news.set()
        if self.gate:
            await self.gate.wait()
        if self.fault:
            return await self.fault(request)
        match request.path:
            case "/api/show":
                name = (await request.json())["model"]
                found = self.models.get(name) or self.models.get(name.removesuffix(":latest"))
                if found is None:
                    return web.json_response({"error": f"model '{name}' not found"}, status=404)
                if found.get("broken"):
                    return await refuses(request)
                return web.json_response({key: value for key, value in found.items() if key != "digest"})
            case "/api/tags":
                return web.json_response({"models": [self._listed(name) for name in self.models]})
            case "/api/ps":
                running = self.running.items()
                entries = [{"name": name, "model": name, "context_length": size} for name, size in running]
                return web.json_response({"models": entries})
            case "/api/version":
                return web.json_response({"version": "0.32.1"})
        return web.Response(status=404)

    def _listed(self, name: str) -> dict[str, object]:
        full = name if ":" in name else f"{name}:latest"
        told = {"modified_at": self.modified[name]} if name in self.modified else {}
        digest = self.models[name]["digest"]
        return {"name": full, "model": full, "digest": digest, "capabilities": ["completion"], **told}


async def refuses(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": "out of memory"}, status=500)


async def knows_nothing(request: web.Request) -> web.StreamResponse:
    return web.Response(status=404, text="404 page not found")


async def talks_garbage(request: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>welcome")


async def sends_a_list(request: web.Request) -> web.StreamResponse:
    return web.json_response([1, {"models": 3}])


async def hangs(request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


def settings(url: str = "", /, **overrides: object) -> Settings:
    """`detect__cache_ttl=1` sets `detect.cache_ttl`; `url` is where the local Ollama is."""
    named = {key.replace("__", "."): value for key, value in overrides.items()}
    return load_settings({**({"ollama.host": url} if url else {}), **named})


@contextmanager
def in_thread(*routes: tuple[str, str, Handler]) -> Iterator[str]:
    """Serves `routes` from a thread with an event loop of its own; gives the base URL."""
    started: Future[tuple[str, Callable[[], object]]] = Future()

    async def serve() -> None:
        async with serving(*routes) as base:
            stop, loop = asyncio.Event(), asyncio.get_running_loop()
            started.set_result((base, lambda: loop.call_soon_threadsafe(stop.set)))
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    base, stop = started.result()
    try:
        yield base
    finally:
        stop()
        thread.join()
