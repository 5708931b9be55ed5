from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.vocabulary import UsageError
from callgate.wire.endpoints import Endpoint, is_loopback, normalise_base_url, ollama_base_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        (":1234", "http://127.0.0.1:1234"),
        ("1.2.3.4:1234", "http://1.2.3.4:1234"),
        ("example.com", "http://example.com:11434"),
        ("example.com:1234", "http://example.com:1234"),
        (":66000", "http://127.0.0.1:11434"),
        (":-1", "http://127.0.0.1:11434"),
        ("host:port", "http://host:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:1337", "http://[::1]:1337"),
        (" 1.2.3.4 ", "http://1.2.3.4:11434"),
        (' " 1.2.3.4 " ', "http://1.2.3.4:11434"),
        ("'1.2.3.4'", "http://1.2.3.4:11434"),
        ("http://1.2.3.4", "http://1.2.3.4:80"),
        ("http://1.2.3.4:4321/", "http://1.2.3.4:4321"),
        ("https://1.2.3.4", "https://1.2.3.4:443"),
        ("https://example.com/ollama/", "https://example.com:443/ollama"),
        ("https://example.com:99999", "https://example.com:443"),
        ("ollama.com", "https://ollama.com:443"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:1234", "http://127.0.0.1:1234"),
        ("[::]", "http://[::1]:11434"),
        ("[::]:1234", "http://[::1]:1234"),
        ("https://0.0.0.0:4321", "https://127.0.0.1:4321"),
        ("http://user:secret@host:1", "http://user:secret@host:1"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(text: str | None, url: str) -> None:
    assert ollama_base_url(text) == url


@pytest.mark.parametrize(
    "text", ["tcp://host:1", "two words", "http://a b", "[not-an-address]:80", "h?ost", "h\tost:1"]
)
def test_what_names_no_ollama_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        ollama_base_url(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "root", "base"),
    [
        ("http://h:8080", "http://h:8080", "http://h:8080/v1"),
        ("h:8080", "http://h:8080", "http://h:8080/v1"),
        ("http://h:8080/", "http://h:8080", "http://h:8080/v1"),
        ("http://h:8080/v1", "http://h:8080", "http://h:8080/v1"),
        ("http://h:8080/v1/", "http://h:8080", "http://h:8080/v1"),
        ("http://h:8080/v1/chat/completions", "http://h:8080", "http://h:8080/v1"),
        ("http://h/v1/models/", "http://h", "http://h/v1"),
        ("https://h/api/v1", "https://h/api", "https://h/api/v1"),
        ("https://h/api/v4", "https://h/api", "https://h/api/v4"),
        ("https://h/proxy", "https://h/proxy", "https://h/proxy/v1"),
        ("HTTPS://h", "https://h", "https://h/v1"),
        ("http://0.0.0.0:1", "http://127.0.0.1:1", "http://127.0.0.1:1/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_all_spellings_of_a_server_are_one(text: str, root: str, base: str) -> None:
    assert normalise_base_url(text) == Endpoint(root, base)
    assert normalise_base_url(base) == Endpoint(root, base)


@pytest.mark.parametrize(
    "text",
    ["", "http://", "ftp://h", "http://h:99999", "http://h:x", "http://h/v1?key=1", "http://h/v1#m", "http://a b/v1"],
)
def test_what_names_no_server_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalise_base_url(text)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["http://[fe80::1%eth0]:8000", "[fe80::1%25eth0]", "fe80::1%eth0"])
def test_an_ipv6_zone_is_refused_by_its_name(text: str) -> None:
    for read in (normalise_base_url, ollama_base_url):
        with pytest.raises(UsageError, match="IPv6 zone"):
            read(text)


def test_a_password_isnt_shown() -> None:
    with pytest.raises(UsageError) as caught:
        normalise_base_url("http://user:secret@h:99999/v1")
    assert "secret" not in caught.value.message
    with pytest.raises(UsageError) as caught:
        ollama_base_url("tcp://user:secret@h")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:1", True),
        ("http://127.9.9.9/x", True),
        ("http://[::1]:8/", True),
        ("http://[::ffff:127.0.0.1]", True),
        ("https://u:p@localhost./", True),
        ("http://api.localhost", True),
        ("http://example.com", False),
        ("http://192.168.0.1", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost@example.com/", False),
        ("http://example.com/@localhost", False),
        ("nonsense", False),
    ],
)
def test_loopback(url: str, here: bool) -> None:
    assert is_loopback(url) is here


@given(st.text(max_size=60) | st.from_regex(r"(https?://)?[a-z0-9.:@\[\]/-]{0,40}"))
def test_any_text_is_a_url_or_refused(text: str) -> None:
    for read in (ollama_base_url, lambda text: normalise_base_url(text).root):
        try:
            url = read(text)
        except UsageError:
            continue
        assert url.startswith(("http://", "https://"))
        assert not any(letter.isspace() for letter in url)
        assert read(url) == url
        is_loopback(url)
