"""Where a request really goes: the URL without its secrets, the next hop of a redirect, the proxy."""

from __future__ import annotations

import ipaddress
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from callgate.vocabulary import BadAnswer, ModelRef, UsageError
from callgate.wire.hops import HOPS_HEADER, hops
from callgate.wire.tracing import trace_headers

if TYPE_CHECKING:
    from yarl import URL

_REMEMBERED = 256
"""Servers: each is asked many times over, and what a URL means never changes."""
_SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})


@lru_cache(maxsize=_REMEMBERED)
def shown(url: str) -> str:
    """`url` as it may be shown: without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the URL"
    host = parts.netloc.rpartition("@")[2]
    return "".join(c if c.isprintable() else "?" for c in f"{parts.scheme}://{host}{parts.path}")


def shown_ref(ref: ModelRef) -> str:
    """The model's name as it may be shown and written down: without a password for its server."""
    if ref.endpoint:
        return str(ModelRef(ref.scheme, ref.name, shown(ref.endpoint)))
    is_url = ref.scheme == "file" and ref.name.lower().startswith(("http://", "https://"))
    return str(ModelRef(ref.scheme, shown(ref.name))) if is_url else str(ref)


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _SECRETS}


@lru_cache(maxsize=_REMEMBERED)
def is_this_machine(host: str) -> bool:
    """Does `host` name this very machine?"""
    host = host.strip("[]").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or address.is_unspecified


def target_of(url: str | URL, headers: Mapping[str, str]) -> tuple[URL, dict[str, str]]:
    """Where to, and with which headers, for whoever asks at this moment. Raises: UsageError, if `url` isn't one."""
    return addressed(url, headers, hops.get(), trace_headers.get())


def addressed(
    url: str | URL, headers: Mapping[str, str], through: tuple[str, ...], traced: Mapping[str, str] | None
) -> tuple[URL, dict[str, str]]:
    """The same for a request that came through those servers and belongs to that trace.

    Credentials in the URL become a header, so that they are dropped like one.
    """
    try:
        target, credentials = _parted(url)
    except ValueError:
        hint = "write http://HOST:PORT/… or https://…"
        raise UsageError(f"{shown(str(url))} isn't a URL that can be asked", hint=hint) from None
    sent = {"User-Agent": "callgate", **headers}
    if through:
        sent[HOPS_HEADER] = ",".join(through)
    if traced:
        sent.update(traced)
    if credentials and not any(name.lower() == "authorization" for name in headers):
        sent["Authorization"] = credentials
    return target, sent


@lru_cache(maxsize=_REMEMBERED)
def _parted(url: str | URL) -> tuple[URL, str]:
    """A URL and the credentials that stood in it. Raises: ValueError."""
    from yarl import URL

    target = URL(url)
    if target.scheme not in ("http", "https") or not target.host:
        raise ValueError(target.scheme)
    return (target, "") if target.user is None else (target.with_user(None), _basic(target))


def redirected(origin: URL, location: str) -> URL:
    from yarl import URL

    place = shown(str(origin))
    # As it is, where it can be: the signature in a storage server's URL covers its spelling.
    plain = location.isascii() and location.isprintable() and " " not in location
    onward = None
    with suppress(ValueError):
        onward = origin.join(URL(location, encoded=plain)).with_user(None)
    if not location or onward is None or onward.scheme not in ("http", "https") or not onward.host:
        raise BadAnswer(f"{place} redirects to nowhere")
    if origin.scheme == "https" and onward.scheme == "http":
        raise BadAnswer(f"{place} redirects from https to plain http", hint="ask the other server directly")
    return onward


def proxy_for(url: URL) -> tuple[URL | None, dict[str, str]]:
    """The environment's proxy for this server, and the headers that it wants.

    aiohttp's own way goes through proxies to this machine too, and stumbles over a ~/.netrc.
    """
    host = url.host or ""
    if is_this_machine(host):
        return None, {}
    from urllib.request import getproxies, proxy_bypass

    from yarl import URL

    proxies = getproxies()
    text = proxies.get(url.scheme) or proxies.get("all")
    if not text or proxy_bypass(host):
        return None, {}
    with suppress(ValueError):
        proxy = URL(text if "://" in text else f"http://{text}")
        if proxy.scheme in ("http", "https") and proxy.host:
            headers = {} if proxy.user is None else {"Proxy-Authorization": _basic(proxy)}
            return proxy.with_user(None), headers
    return None, {}


def _basic(url: URL) -> str:
    return "Basic " + b64encode(f"{url.user}:{url.password or ''}".encode()).decode()
