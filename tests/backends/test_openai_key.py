from __future__ import annotations

from aiohttp import web

from callgate.backends import backend_for
from callgate.settings import load_settings
from callgate.vocabulary import ModelRef
from callgate.wire import HttpClient
from tests.wire.server import serving

SECRET = "sk-very-secret"


async def keys_sent(meant_for: str | None) -> list[str | None]:
    """The keys that a server got, with a key in the settings that is meant for it, or for another."""
    seen: list[str | None] = []

    async def models(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "vllm"}]})

    async with serving(("GET", "/v1/models", models)) as url, HttpClient() as http:
        settings = load_settings({"openai.api_key": SECRET, "openai.base_url": meant_for or f"{url}/v1/"}, environ={})
        await backend_for(ModelRef("openai", "m", f"{url}/v1"), settings, http).facts("m")
    return seen


async def test_the_key_goes_to_the_server_that_it_is_for() -> None:
    assert await keys_sent(None) == [f"Bearer {SECRET}"]


async def test_the_key_goes_to_no_other_server() -> None:
    assert await keys_sent("https://api.example.org/v1") == [None]
