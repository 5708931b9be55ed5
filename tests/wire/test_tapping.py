from __future__ import annotations

import pytest
from aiohttp import web

from callgate.vocabulary import BadStatus
from callgate.wire import HttpClient, Patience, overhearing, post_stream
from callgate.wire.tapping import MOST_BYTES, MOST_EXCHANGES, overheard
from tests.wire.server import serving


async def _echo(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    return web.Response(body=b"answer to " + body, status=200 if body != b"bad" else 500)


async def test_both_sides_are_heard_also_where_the_server_refuses() -> None:
    async with serving(("POST", "/", _echo)) as base, HttpClient() as client:
        with overhearing() as exchanges:
            async with post_stream(client, f"{base}/", b"one", patience=Patience()) as incoming:
                while await incoming.read():
                    pass
            with pytest.raises(BadStatus):
                async with post_stream(client, f"{base}/", b"bad", patience=Patience()):
                    pass
        async with post_stream(client, f"{base}/", b"unheard", patience=Patience()) as incoming:
            await incoming.read()
    assert [(each.sent, each.status, bytes(each.received)) for each in exchanges] == [
        (b"one", 200, b"answer to one"),
        (b"bad", 500, b"answer to bad"),
    ]


def test_no_more_is_kept_than_anybody_would_look_at() -> None:
    assert overheard("http://x/", b"") is None
    with overhearing() as exchanges:
        exchange = [overheard("http://x/", b"") for _ in range(MOST_EXCHANGES + 3)][-1]
        assert exchange
        exchange.hear(bytes(MOST_BYTES - 1))
        assert not exchange.was_longer
        exchange.hear(bytes(10))
    assert (len(exchanges), len(exchange.received), exchange.was_longer) == (MOST_EXCHANGES, MOST_BYTES, True)
