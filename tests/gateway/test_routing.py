from __future__ import annotations

import pytest

from callgate.gateway.dialects import DIALECTS
from callgate.gateway.routing import Routes

ROUTES = Routes(DIALECTS)


@pytest.mark.parametrize(
    ("method", "path", "route", "rest"),
    [
        ("GET", "/v1/models", "/v1/models", ""),
        ("GET", "/v1/models/owner/name:8b", "/v1/models/*", "owner/name:8b"),
        ("HEAD", "/v1/models", "/v1/models", ""),
        ("HEAD", "/", "/", ""),
        ("POST", "/api/blobs/sha256:00", "/api/blobs/*", "sha256:00"),
    ],
)
def test_a_path_leads_to_its_route(method: str, path: str, route: str, rest: str) -> None:
    found = ROUTES.find(method, path)
    assert found.route
    assert (found.route.path, found.rest) == (route, rest)


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("/api/x", "ollama"),
        ("/v1/x", "openai"),
        ("/x", "openai"),
        ("/apis", "openai"),
        ("/v1/messages/x", "anthropic"),
        ("/v1/responses", "responses"),
        ("/v1/messagesx", "openai"),
    ],
)
def test_whoever_is_lost_is_told_in_the_dialect_of_the_path(path: str, dialect: str) -> None:
    found = ROUTES.find("GET", path)
    assert (found.route, found.dialect.name) == (None, dialect)


def test_a_header_tells_whose_client_it_is() -> None:
    signed = ROUTES.find("GET", "/v1/models", {"anthropic-version": "2023-06-01"})
    assert (signed.dialect.name, ROUTES.find("GET", "/v1/models").dialect.name) == ("anthropic", "openai")
    assert ROUTES.find("POST", "/v1/embeddings", {"anthropic-version": "2023-06-01"}).dialect.name == "openai"


def test_no_path_is_taken_twice() -> None:
    every = [(route.method, route.path) for dialect in DIALECTS for route in dialect.routes]
    assert len(every) == len(set(every))


@pytest.mark.parametrize("rest", ["sha256:", "md5:00", "../tags", "sha256:00?x", "sha256:00/../../generate"])
def test_only_digests_lead_to_blobs(rest: str) -> None:
    assert ROUTES.find("POST", f"/api/blobs/{rest}").route is None


def test_who_comes_with_the_wrong_method_is_told_the_right_ones() -> None:
    refused = ROUTES.nothing_at("PUT", "/v1/models/x")
    assert (refused.failure.status, refused.headers) == (405, ((b"allow", b"GET, HEAD"),))
    assert ROUTES.nothing_at("GET", "/v1/nothing").failure.status == 404
