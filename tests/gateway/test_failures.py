from __future__ import annotations

import pytest
from aiohttp import web

from callgate.gateway import Options
from callgate.gateway.failures import failure_of, headers_of
from callgate.vocabulary import BadStatus
from tests.gateway.running import gateway
from tests.wire.server import serving


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("status", "said", "heard"), [(429, "7", "7"), (503, "999999", "3600"), (429, "soon", None)])
async def test_clients_hear_when_a_server_wants_to_be_asked_again(
    stream: bool, status: int, said: str, heard: str | None
) -> None:
    async def busy(_: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "busy"}}, status=status, headers={"Retry-After": said})

    handlers = ("POST", "/v1/chat/completions", busy)
    async with serving(handlers) as url, gateway(Options(model=f"{url}/v1#m")) as served:
        asked = {"messages": [{"role": "user", "content": "hello"}], "stream": stream}
        answer = await served.post("/v1/chat/completions", asked)
        assert answer.status == status
        assert answer.headers.get("retry-after") == heard


def test_what_is_between_a_server_and_us_says_nothing_of_when_to_ask_again() -> None:
    assert headers_of(BadStatus("http://a answered with status 401", status=401, retry_after=5)) == ()


def test_a_loop_is_told_once_however_long_it_is() -> None:
    inner = failure_of(BadStatus("http://127.0.0.1:1 answered with status 508: it is callgate itself", status=508))
    outer = failure_of(
        BadStatus(f"http://127.0.0.1:2 answered with status 508: {inner.said}", status=508, hint=inner.hint)
    )
    assert outer.status == 508
    assert outer.message == "http://127.0.0.1:2 leads back to this very server"
    assert outer.said.count("OLLAMA_HOST") == 1
