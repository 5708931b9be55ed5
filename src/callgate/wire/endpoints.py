"""Where a server listens, in all the ways that people write it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from callgate.vocabulary import UsageError
from callgate.wire.targets import is_this_machine

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

OLLAMA_PORT = 11434
_REMEMBERED = 256
"""Servers: each is named many times over."""

_HOST = re.compile(r"[^\s/?#@\[\]\\%]+|\[[0-9A-Fa-f:.]+\]")
_API_PATH = re.compile(r"(?<!/)/(?:chat/completions|completions|embeddings|models|responses|messages)/*\Z")
_VERSION = re.compile(r"/v\d+(?:beta)?\Z")


class Endpoint(msgspec.Struct, frozen=True):
    """An OpenAI-compatible server: `root` is the server itself, `base` is what clients call its base URL."""

    root: str
    base: str


@lru_cache(maxsize=_REMEMBERED)
def ollama_base_url(text: str | None = None) -> str:
    """The URL of an Ollama, from what `OLLAMA_HOST` may hold, read as Ollama itself reads it.

    A port that is none means the default one; `0.0.0.0` and `[::]`, where a server listens, mean this machine.

    Raises: UsageError, if no URL can be made of it.
    """
    text = (text or "").strip().strip("\"'").strip()
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if not separator:
        scheme, rest = ("https", "ollama.com:443") if text == "ollama.com" else ("http", text)
    default_port = {"http": 80, "https": 443}.get(scheme, OLLAMA_PORT) if separator else OLLAMA_PORT
    authority, _, path = rest.partition("/")
    credentials, at, authority = authority.rpartition("@")
    host, port = _split_port(authority)
    if port is None or not (port.isascii() and port.isdigit() and int(port) <= 65535):
        port = str(default_port)
    return _url(text, scheme, credentials + at, host or "127.0.0.1", port, path)


@lru_cache(maxsize=_REMEMBERED)
def normalise_base_url(text: str) -> Endpoint:
    """The two URLs of an OpenAI-compatible server, from any of the ways to write it.

    `http://h:8080`, `h:8080/v1/` and `http://h:8080/v1/chat/completions` are all the same server.

    Raises: UsageError, if no URL can be made of it.
    """
    scheme, separator, rest = text.strip().partition("://")
    if not separator:
        scheme, rest = "http", text.strip()
    if "?" in rest or "#" in rest:
        raise UsageError(f"the server URL {_shown(text)} has more than a path", hint="leave out what follows ? or #")
    authority, _, path = rest.partition("/")
    credentials, at, authority = authority.rpartition("@")
    host, port = _split_port(authority)
    if port and not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise UsageError(f"the server URL {_shown(text)} has no valid port", hint="a port is a number up to 65535")
    url = _url(text, scheme.lower(), credentials + at, host, port, path)
    url = _API_PATH.sub("", url)
    if version := _VERSION.search(url):
        return Endpoint(url[: version.start()], url)
    return Endpoint(url, f"{url}/v1")


def is_loopback(url: str) -> bool:
    """Does the URL lead to this machine, as far as can be told without asking a name server?"""
    authority = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    return is_this_machine(_split_port(authority)[0])


def _split_port(authority: str) -> tuple[str, str | None]:
    """`host:port`, `[v6]:port`, or a host alone, for which a bare IPv6 address is taken too."""
    if authority.startswith("["):
        inside, bracket, rest = authority.partition("]")
        return inside + bracket, rest.removeprefix(":") if rest.startswith(":") else None
    if authority.count(":") == 1:
        host, _, port = authority.partition(":")
        return host, port
    return authority, None


def _url(text: str, scheme: str, credentials: str, host: str, port: str | None, path: str) -> str:
    if scheme not in ("http", "https"):
        raise UsageError(f"the server URL {_shown(text)} has no scheme that we speak", hint="write http:// or https://")
    address = _address(host.strip("[]"))
    if address is not None and address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    elif address is not None:
        host = str(address)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    if ":" in host and "%" in host:
        hint = "use an address that is no link-local one, or a name"
        raise UsageError(f"the server URL {_shown(text)} has an IPv6 zone, and those can't be asked", hint=hint)
    if not _HOST.fullmatch(host) or re.search(r"[\s\\]", credentials + path):
        raise UsageError(f"the server URL {_shown(text)} names no host", hint="write http://HOST:PORT")
    path = path.strip("/")
    return f"{scheme}://{credentials}{host}{f':{port}' if port else ''}{f'/{path}' if path else ''}"


def _address(host: str) -> IPv4Address | IPv6Address | None:
    from ipaddress import ip_address

    try:
        return ip_address(host)
    except ValueError:
        return None


def _shown(text: str) -> str:
    """In quotes, and without a password that may stand in it."""
    scheme, separator, rest = text[:200].rpartition("://")
    return repr(f"{scheme}{separator}{rest.rpartition('@')[2]}")
