from __future__ import annotations

from aiohttp import web

from callgate.wire import HOPS_HEADER, HttpClient, hops, hops_of
from tests.wire.server import serving


async def test_a_request_says_through_which_of_our_servers_it_came() -> None:
    seen: list[str | None] = []

    async def heard(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get(HOPS_HEADER))
        return web.json_response({})

    async with serving(("GET", "/", heard)) as url, HttpClient() as http:
        await http.get_json(url)
        token = hops.set(("a", "b"))
        try:
            await http.get_json(url)
        finally:
            hops.reset(token)
    assert seen == [None, "a,b"]


def test_what_it_says_is_read_again() -> None:
    assert hops_of("a, b,,") == ("a", "b")
    assert hops_of("") == ()
