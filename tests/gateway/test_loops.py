from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import pytest

from callgate.gateway import Options
from callgate.settings import Settings
from tests.gateway.running import Gateway, gateway, no_servers
from tests.runtime.played import NOBODY, WITH_TOOLS, PlayedOllama
from tests.wire.server import serving

TALK: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}], "stream": True}
ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": TALK,
    "/v1/completions": {"prompt": "hello"},
    "/v1/embeddings": {"input": "hello"},
    "/v1/messages": {**TALK, "max_tokens": 10},
    "/v1/messages/count_tokens": TALK,
    "/v1/responses": {"input": "hello"},
    "/api/chat": TALK,
    "/api/generate": {"prompt": "hello"},
    "/api/embed": {"input": "hello"},
    "/api/show": {},
}


async def begin_anew(served: Gateway, settings: Settings) -> None:
    """For the address is known only now."""
    served.app._settings = settings
    await served.app.stop()
    await served.app.start()


def behind(url: str, how: str) -> Settings:
    return no_servers(url) if how == "ollama" else no_servers(discovery__endpoints=f"upstream 1={url}/v1")


@pytest.mark.parametrize("how", ["ollama", "upstream"])
@pytest.mark.parametrize("path", ASKED)
async def test_whoever_names_a_model_is_told_of_a_server_that_asks_itself(path: str, how: str) -> None:
    async with gateway(Options(instance="one")) as served:
        await begin_anew(served, behind(served.url, how))
        answer = await served.post(path, {**ASKED[path], "model": "qwen3:8b"})
        assert answer.status == 508
        assert f"{served.url} leads back to this very server" in str(answer.json["error"])
        assert "OLLAMA_HOST and --upstream" in str(answer.json["error"])
        assert (await served.post("/api/show", {"model": "tiny"})).status == 200


@pytest.mark.parametrize("how", ["ollama", "upstream"])
@pytest.mark.parametrize("count", [2, 3])
async def test_a_ring_is_told_to_whoever_names_a_model_at_any_of_its_servers(count: int, how: str) -> None:
    async with AsyncExitStack() as stack:
        ring = [await stack.enter_async_context(gateway(Options(instance=f"number {n}"))) for n in range(count)]
        for served, following in zip(ring, (*ring[1:], ring[0]), strict=True):
            await begin_anew(served, behind(following.url, how))
        for served in ring:
            answer = await served.post("/v1/chat/completions", {**TALK, "model": "a/b?c %2f"})
            assert (answer.status, answer.json["error"]["code"]) == (508, "loop")


async def test_a_chain_that_ends_is_no_loop() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS)
    async with (
        serving(*ollama.routes) as url,
        gateway(Options(instance="two"), no_servers(url)) as two,
        gateway(Options(instance="one"), no_servers(NOBODY, discovery__endpoints=f"a={two.url},b=ollama+{url}")) as one,
    ):
        assert (await one.post("/api/show", {"model": "nobody"})).status == 404
        assert (await one.post("/api/show", {"model": "good"})).status == 200


async def test_many_wrong_names_are_one_question() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS)
    async with serving(*ollama.routes) as url, gateway(None, no_servers(url)) as served:
        loops = served.app._answering._catalogue._loops  # type: ignore[union-attr]
        assert (await served.post("/api/show", {"model": "wrong"})).status == 404
        asked_at = loops._found_at
        for number in range(5):
            assert (await served.post("/api/show", {"model": f"wrong {number}"})).status == 404
            if loops._found_at == asked_at:
                return
        raise AssertionError("each was asked for")
