from __future__ import annotations

import pytest

from callgate.gateway import App, Options
from callgate.vocabulary import UsageError
from tests.gateway.running import gateway, no_servers

EVERYWHERE = ["0.0.0.0", "::", "", "::0", "0:0:0:0:0:0:0:0", "0000::", "::%lo", "::ffff:0.0.0.0", "0", "0x0", "[::]"]


@pytest.mark.parametrize("host", [*EVERYWHERE, "192.168.1.5", "models.example.org", "::ffff:192.168.1.5"])
def test_beyond_this_machine_a_key_is_required(host: str) -> None:
    with pytest.raises(UsageError, match="needs a key"):
        App(no_servers(), Options(host=host))
    App(no_servers(), Options(host=host, keys=("secret",)))


@pytest.mark.parametrize("host", ["::0", "::ffff:0.0.0.0", "0"])
async def test_who_listens_everywhere_is_known_by_every_address(host: str) -> None:
    async with gateway(Options(host=host, keys=("secret",))) as served:
        known = await served.get("/v1/models", Host="192.168.1.5", X_Api_Key="secret")
        assert known.status == 200
        stranger = await served.get("/v1/models", Host="evil.example.org", X_Api_Key="secret")
        assert stranger.status == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_this_machine_none_is(host: str) -> None:
    App(no_servers(), Options(host=host))


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Authorization", "Bearer one", 200),
        ("Authorization", "bearer two", 200),
        ("X-Api-Key", "two", 200),
        ("Authorization", "Bearer three", 401),
        ("Authorization", "Bearer ", 401),
        ("Authorization", "Basic one", 401),
        ("X-Api-Key", "on", 401),
        ("X-Other", "one", 401),
    ],
)
async def test_one_of_the_keys_has_to_be_sent(header: str, value: str, status: int) -> None:
    async with gateway(Options(keys=("one", "two"))) as served:
        for path in ("/v1/models", "/metrics"):
            answer = await served.get(path, **{header: value})
            assert answer.status == status
            assert status == 200 or answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:11435", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("gate.localhost", 200),
        ("models.example.org:11435", 200),
        ("MODELS.example.org", 200),
        ("evil.example.org", 403),
        ("127.0.0.1.evil.example.org", 403),
        ("192.168.1.5", 403),
    ],
)
async def test_a_strangers_name_for_this_machine_is_refused(host: str, status: int) -> None:
    async with gateway(Options(allowed_hosts=("models.example.org",))) as served:
        assert (await served.get("/v1/models", Host=host)).status == status


async def test_who_was_called_rightly_before_is_no_better_known_by_a_strangers_name() -> None:
    async with gateway() as served:
        for host, status in (("localhost:1", 200), ("localhost:1", 200), ("evil.example.org", 403), ("", 403)) * 2:
            assert (await served.get("/v1/models", Host=host)).status == status


async def test_pages_may_ask_only_if_they_are_named() -> None:
    async with gateway() as closed:
        assert (await closed.get("/api/tags", Origin="https://evil.example.org")).status == 403
        assert (await closed.get("/api/tags", Origin="null")).status == 403
        assert (await closed.ask("OPTIONS", "/api/chat", Origin="https://evil.example.org")).status == 403
        own = await closed.get("/api/tags", Origin=closed.url)
        assert own.status == 200
        assert "access-control-allow-origin" not in own.headers
    async with gateway(Options(origins=("https://app.example.org",), keys=("secret",))) as served:
        before = await served.ask("OPTIONS", "/api/chat", Origin="https://app.example.org")
        assert before.status == 204
        assert before.headers["access-control-allow-origin"] == "https://app.example.org"
        assert before.headers["access-control-allow-methods"] == "POST"
        refused = await served.get("/api/tags", Origin="https://app.example.org")
        assert refused.status == 401
        assert refused.headers["access-control-allow-origin"] == "https://app.example.org"


async def test_a_page_that_may_ask_may_send_what_its_client_sends() -> None:
    async with gateway(Options(origins=("https://app.example.org",))) as served:
        wanted = "authorization,content-type,x-stainless-os, x-stainless-retry-count"
        before = await served.ask(
            "OPTIONS",
            "/v1/chat/completions",
            Origin="https://app.example.org",
            Access_Control_Request_Method="POST",
            Access_Control_Request_Headers=wanted,
        )
        assert before.status == 204
        assert before.headers["access-control-allow-headers"] == wanted
        for nonsense in ("a b", "x-a,,", "", "x-\u00e9"):
            before = await served.ask(
                "OPTIONS",
                "/v1/chat/completions",
                Origin="https://app.example.org",
                Access_Control_Request_Headers=nonsense,
            )
            assert "X-Api-Key" in before.headers["access-control-allow-headers"]
        stranger = await served.ask(
            "OPTIONS",
            "/v1/chat/completions",
            Origin="https://evil.example.org",
            Access_Control_Request_Headers="x-stainless-os",
        )
        assert stranger.status == 403
        assert "access-control-allow-headers" not in stranger.headers
