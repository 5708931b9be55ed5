from __future__ import annotations

import pytest

from callgate.gateway import Options, names_nobody_has
from callgate.vocabulary import UsageError
from tests.gateway.running import no_servers
from tests.gateway.upstreams import Upstream, upstreams
from tests.runtime.played import NOBODY, WITH_TOOLS, PlayedOllama
from tests.wire.server import serving


async def test_what_somebody_has_is_not_told() -> None:
    here, ollama = Upstream("here", model="here1"), PlayedOllama(good=WITH_TOOLS)
    options = Options(model="x", aliases={"x": "here1,good", "y": "x", "z": "tiny,auto"}, fallback="y,good:latest")
    async with upstreams(here), serving(*ollama.routes) as url:
        known = no_servers(url, discovery__endpoints=f"here={here.url}")
        assert await names_nobody_has(known, options) == []
        # Who is elsewhere, and what isn't fetched yet, is nobody's business now.
        far = Options(aliases={"far": f"{NOBODY}/v1#m", "hub": "hf:owner/name", "file": "https://example.org/m.gguf"})
        assert await names_nobody_has(known, far) == []


async def test_each_that_nobody_has_is_told_with_what_may_be_the_reason() -> None:
    here, ollama = Upstream("here", model="here1"), PlayedOllama(good=WITH_TOOLS)
    async with upstreams(here), serving(*ollama.routes) as url:
        known = no_servers(url, discovery__endpoints=f"here={here.url}", models__default="here2", models__fallback="y")
        assert await names_nobody_has(known, Options(aliases={"y": "elsewhere"})) == [
            "the default model names 'here2', which nobody has just now (did you mean 'here1'?)",
            "the alias 'y' names 'elsewhere', which nobody has just now (`callgate models` lists those in reach)",
            "the fallback names 'elsewhere', which nobody has just now (`callgate models` lists those in reach)",
        ]
        await here.stop()
        (told,) = await names_nobody_has(known, Options(model="here1", fallback=""))
        assert told.startswith("the default model names 'here1', which nobody has just now (nobody listens at http://")


async def test_who_asks_nobody_misses_nothing() -> None:
    assert await names_nobody_has(no_servers(NOBODY, discovery__timeout=0.0), Options(model="x")) == []


async def test_a_circle_is_refused() -> None:
    with pytest.raises(UsageError, match="in a circle"):
        await names_nobody_has(no_servers(), Options(aliases={"a": "b", "b": "a"}))
