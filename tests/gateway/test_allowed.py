from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway import App, Options
from callgate.gateway.allowed import allowed_host, allowed_origin
from callgate.vocabulary import UsageError
from tests.gateway.running import no_servers


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("models.example.org", "models.example.org"),
        ("Models.Example.org.", "models.example.org"),
        ("my_box", "my_box"),
        ("192.168.1.5", "192.168.1.5"),
        ("[FD00::0:1]", "fd00::1"),
    ],
)
def test_a_host_is_known_as_clients_write_it(text: str, host: str) -> None:
    assert allowed_host(text) == host


@pytest.mark.parametrize("text", ["", "http://x", "x:1", "x/y", "*", "-", "a b", "b\u00fccher.example", "a" * 300])
def test_what_no_client_could_write_is_no_host(text: str) -> None:
    with pytest.raises(UsageError, match="is no name"):
        App(no_servers(), Options(allowed_hosts=(text,)))


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("*", "*"),
        ("https://a.b", "https://a.b"),
        ("HTTPS://A.B:443", "https://a.b"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("chrome-extension://abcdefgh", "chrome-extension://abcdefgh"),
    ],
)
def test_an_origin_is_known_as_browsers_send_it(text: str, origin: str) -> None:
    assert allowed_origin(text) == origin


@pytest.mark.parametrize(
    "text", ["", "null", "a.b", "https://", "https://a.b/", "https://a.b/x", "https://u@a.b", "https://a.b:x", "//a.b"]
)
def test_what_no_browser_sends_is_no_origin(text: str) -> None:
    with pytest.raises(UsageError, match="is no origin") as caught:
        App(no_servers(), Options(origins=(text,)))
    assert caught.value.hint


@given(st.text())
def test_whatever_is_said_it_is_taken_or_refused(text: str) -> None:
    for allowed in (allowed_host, allowed_origin):
        try:
            known = allowed(text)
        except UsageError:
            continue
        assert allowed(known) == known
