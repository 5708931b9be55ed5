"""Where servers may be: the ports that they are known for, and what the settings name. Which of them answer at all?"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import msgspec

from callgate.settings import Settings
from callgate.vocabulary import UsageError
from callgate.wire import is_loopback, normalise_base_url, ollama_base_url

_KNOWN = {"llama-server": 8080, "LM Studio": 1234, "vLLM": 8000}
"""By the port that each takes unless it is told otherwise."""
_OLLAMA = "ollama+"


class Place(msgspec.Struct, frozen=True):
    """Where a server may be."""

    name: str
    url: str
    """Its root, without `/v1`."""
    is_ollama: bool = False
    is_local_ollama: bool = False
    """The one whose models are named without an address."""
    named: bool = False
    """Somebody expects it there, and wants to know if it isn't."""


def known_places(settings: Settings) -> list[Place]:
    """Ollama's place first, then what the settings name, then the ports of others, each address once. None, where
    servers get no time to answer.

    Raises: UsageError, if a setting is no good.
    """
    if not settings.discovery.timeout:
        return []
    named = settings.origin("ollama.host") != "default"
    local = Place("Ollama", ollama_base_url(settings.ollama.host), is_ollama=True, is_local_ollama=True, named=named)
    ports = [Place(name, f"http://127.0.0.1:{port}") for name, port in _KNOWN.items()]
    places = [local, *_named_in(settings.discovery.endpoints or ""), *ports]
    return list({_address(place.url): place for place in reversed(places)}.values())[::-1]


def place_at(url: str, name: str = "") -> Place:
    """The server at `url`, which may be `ollama+http://…`. Raises: UsageError, if it is no URL."""
    if url.lower().startswith(_OLLAMA):
        root = ollama_base_url(url[len(_OLLAMA) :])
        return Place(name or root, root, is_ollama=True, named=True)
    root = normalise_base_url(url).root
    return Place(name or root, root, named=True)


def _named_in(setting: str) -> Iterator[Place]:
    for entry in setting.split(","):
        name, equals, url = entry.strip().partition("=")
        if not entry.strip():
            continue
        if not (equals and name.strip() and "://" not in name):
            raise UsageError(
                f"the setting 'discovery.endpoints' has {entry.strip()[:80]!r}, which isn't NAME=URL",
                hint="such as: lab=http://lab:8080/v1, den=ollama+http://den:11434",
            )
        yield place_at(url.strip(), name.strip())


class Knock:
    """Knocks at all places on this machine at once, without waiting; `answered` waits for those that may still come.

    Places elsewhere count as if they answered: a proxy or a name server may be on the way, and asking is cheaper.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._open: set[str] = {place.url for place in places if not is_loopback(place.url)}
        self._waiting = ExitStack()
        self._selector = self._waiting.enter_context(selectors.DefaultSelector())
        for place in places:
            if is_loopback(place.url):
                for family, address in _addresses(place.url):
                    self._begin(place.url, family, address)

    def _begin(self, url: str, family: socket.AddressFamily, address: tuple[str, int]) -> None:
        with suppress(OSError):  # a machine without IPv6, say
            connection = self._waiting.enter_context(socket.socket(family, socket.SOCK_STREAM))
            connection.setblocking(False)
            connection.connect_ex(address)
            self._selector.register(connection, selectors.EVENT_WRITE, url)

    def answered(self, timeout: float) -> list[Place]:
        """Those where somebody listens."""
        until = time.monotonic() + timeout
        with self._waiting:
            while self._selector.get_map():
                ready = self._selector.select(max(0.0, until - time.monotonic()))
                if not ready:
                    break
                for key, _ in ready:
                    connection = key.fileobj
                    self._selector.unregister(connection)
                    assert isinstance(connection, socket.socket)
                    if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                        self._open.add(key.data)
        return [place for place in self._places if place.url in self._open]


def _addresses(url: str) -> Iterator[tuple[socket.AddressFamily, tuple[str, int]]]:
    """All that a loopback URL may mean, without asking a name server."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    numeric = host.replace(".", "").isdigit()
    if ":" not in host:
        yield socket.AF_INET, (host if numeric else "127.0.0.1", port)
    if not numeric:
        yield socket.AF_INET6, (host if ":" in host else "::1", port)


def _address(url: str) -> str:
    """The same for `localhost` and 127.0.0.1."""
    parts = urlsplit(url)
    host = "localhost" if is_loopback(url) else parts.hostname
    return f"{host}:{parts.port or parts.scheme}{parts.path}"
